//! What an approval of a project's hooks refers to: the file and every script of the project it names.

use std::fs;
use std::path::{Path, PathBuf};

use switchboard_fleet::executable_candidates;
use switchboard_text::Digest;

use crate::hooks::command::possible_files;
use crate::hooks::hook::Hook;

/// The longest script that can be approved, in bytes.
const MAX_SCRIPT_BYTES: u64 = 16 * 1024 * 1024;

/// What was approved: a text, and files that must stay as they are, there or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ApprovalSeal {
    text: String,
    project: PathBuf,
    named_files: Vec<PathBuf>,
    digest: String,
}

impl ApprovalSeal {
    /// What is to be approved of a project's file with this text and these hooks.
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

    /// The scripts of the project that are there.
    pub(super) fn scripts(&self) -> impl Iterator<Item = &PathBuf> {
        self.named_files.iter().filter(|file| self.is_script(file))
    }

    /// Whether the scripts are what they were. This reads them.
    pub(super) fn is_intact(&self) -> bool {
        self.current_digest().is_ok_and(|now| now == self.digest)
    }

    fn is_script(&self, file: &Path) -> bool {
        let is_inside =
            |path: &Path| fs::canonicalize(path).is_ok_and(|real| real.starts_with(&self.project));
        // Programs of the system are not the project's to change, but a link to them is.
        file.is_file() && (is_inside(file) || file.parent().is_some_and(is_inside))
    }

    fn current_digest(&self) -> Result<String, String> {
        let mut digest = Digest::new("hooks").with(&self.text);
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
