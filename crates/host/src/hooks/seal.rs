//! The digest that an approval refers to: a project's hook file and every project script it names.

use std::fs;
use std::path::{Path, PathBuf};

use switchboard_fleet::executable_candidates;
use switchboard_text::Digest;

use crate::hooks::command::possible_files;
use crate::hooks::hook::Hook;

/// Maximum size of a script that can be approved, since it is read before every run.
const MAX_SCRIPT_BYTES: u64 = 16 * 1024 * 1024;

/// The approved state: the text of a hook file, and the files it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ApprovalSeal {
    text: String,
    project: PathBuf,
    named_files: Vec<PathBuf>,
    digest: String,
}

impl ApprovalSeal {
    pub(super) fn new(text: &str, hooks: &[Hook], project: &Path) -> Result<Self, String> {
        let project = fs::canonicalize(project).unwrap_or_else(|_| project.to_owned());
        let mut named: Vec<PathBuf> = hooks
            .iter()
            .flat_map(|hook| {
                let words = possible_files(&hook.action).into_iter();
                words.flat_map(|word| executable_candidates(&hook.folder.join(word)))
            })
            .collect();
        named.sort_unstable();
        named.dedup();
        let mut seal =
            Self { text: text.to_owned(), project, named_files: named, digest: String::new() };
        seal.digest = seal.current_digest()?;
        Ok(seal)
    }

    pub(super) fn digest(&self) -> &str {
        &self.digest
    }

    /// Returns the named files that exist as scripts of the project.
    pub(super) fn scripts(&self) -> impl Iterator<Item = &PathBuf> {
        self.named_files.iter().filter(|file| self.is_script(file))
    }

    /// Reads the scripts, and returns whether they are unchanged.
    pub(super) fn is_intact(&self) -> bool {
        self.current_digest().is_ok_and(|now| now == self.digest)
    }

    fn is_script(&self, file: &Path) -> bool {
        let is_inside =
            |path: &Path| fs::canonicalize(path).is_ok_and(|real| real.starts_with(&self.project));
        // A project cannot change system programs, but it can change a link to one.
        file.is_file() && (is_inside(file) || file.parent().is_some_and(is_inside))
    }

    fn current_digest(&self) -> Result<String, String> {
        let mut digest = Digest::new("hooks").with(&self.text);
        // Files that appear or disappear change the digest as well.
        for file in self.scripts() {
            let failed = |what: String| format!("`{}` {what}", file.display());
            let length = fs::metadata(file).map_err(|cause| failed(cause.to_string()))?.len();
            if length > MAX_SCRIPT_BYTES {
                return Err(failed(format!(
                    "is longer than {} MiB",
                    MAX_SCRIPT_BYTES / 1024 / 1024
                )));
            }
            let content = fs::read(file).map_err(|cause| failed(cause.to_string()))?;
            digest = digest.with_bytes(file.as_os_str().as_encoded_bytes()).with_bytes(&content);
        }
        Ok(digest.hex())
    }
}
