//! What an approval of a project's hooks refers to: the file and every script of the project it names.

use std::fs;
use std::path::{Path, PathBuf};

use switchboard_fleet::startable;
use switchboard_text::Digest;

use crate::hooks::command::possible_files;
use crate::hooks::hook::Hook;

/// The longest script that can be approved, in bytes.
const LONGEST: u64 = 16 * 1024 * 1024;

/// What was approved: a text, and files that must stay as they are, there or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seal {
    text: String,
    project: PathBuf,
    named: Vec<PathBuf>,
    digest: String,
}

impl Seal {
    /// What is to be approved of a project's file with this text and these hooks.
    pub(super) fn of(text: &str, hooks: &[Hook], project: &Path) -> Result<Self, String> {
        let project = fs::canonicalize(project).unwrap_or_else(|_| project.to_owned());
        let mut named: Vec<PathBuf> = hooks
            .iter()
            .flat_map(|hook| {
                let words = possible_files(&hook.run).into_iter();
                words.flat_map(|word| startable(&hook.folder.join(word)))
            })
            .collect();
        named.sort_unstable();
        named.dedup();
        let mut seal = Self { text: text.to_owned(), project, named, digest: String::new() };
        seal.digest = seal.now()?;
        Ok(seal)
    }

    pub(super) fn digest(&self) -> &str {
        &self.digest
    }

    /// The scripts of the project that are there.
    pub(super) fn scripts(&self) -> impl Iterator<Item = &PathBuf> {
        self.named.iter().filter(|file| self.is_script(file))
    }

    /// Whether the scripts are what they were. This reads them.
    pub(super) fn holds(&self) -> bool {
        self.now().is_ok_and(|now| now == self.digest)
    }

    fn is_script(&self, file: &Path) -> bool {
        let is_inside =
            |path: &Path| fs::canonicalize(path).is_ok_and(|real| real.starts_with(&self.project));
        // Programs of the system are not the project's to change, but a link to them is.
        file.is_file() && (is_inside(file) || file.parent().is_some_and(is_inside))
    }

    fn now(&self) -> Result<String, String> {
        let mut digest = Digest::of("hooks").with(&self.text);
        for file in self.scripts() {
            let failed = |what: String| format!("`{}` {what}", file.display());
            let length = fs::metadata(file).map_err(|cause| failed(cause.to_string()))?.len();
            if length > LONGEST {
                return Err(failed(format!("is longer than {} MiB", LONGEST / 1024 / 1024)));
            }
            let content = fs::read(file).map_err(|cause| failed(cause.to_string()))?;
            digest = digest.with_bytes(file.as_os_str().as_encoded_bytes()).with_bytes(&content);
        }
        Ok(digest.hex())
    }
}
