//! Text in the person's own editor, through a private file that is gone afterwards.

use std::ffi::OsString;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// The editor that a person has chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OutsideEditor {
    program: String,
    arguments: Vec<String>,
}

/// Why a text was not edited.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OutsideEditorError {
    /// The file for it could not be written or read.
    #[error("the file for the editor cannot be used: {0}")]
    File(#[from] std::io::Error),
    /// It is not there.
    #[error("the editor `{program}` does not start: {cause}")]
    Start {
        program: String,
        /// Why it did not start.
        cause: std::io::Error,
    },
    /// It failed, so what it left behind is not trusted.
    #[error("the editor `{program}` ended with {status}")]
    Failed { program: String, status: std::process::ExitStatus },
}

impl OutsideEditor {
    /// The editor that `VISUAL` or `EDITOR` names.
    pub(crate) fn chosen() -> Option<Self> {
        ["VISUAL", "EDITOR"].into_iter().find_map(|name| Self::parse(std::env::var_os(name)))
    }

    /// Words with spaces between; no shell reads them.
    fn parse(value: Option<OsString>) -> Option<Self> {
        let value = value?.into_string().ok()?;
        let mut words = value.split_whitespace().map(str::to_owned);
        Some(Self { program: words.next()?, arguments: words.collect() })
    }

    /// Lets the person edit a text and returns what they made of it.
    pub(crate) fn edit(&self, text: &str) -> Result<String, OutsideEditorError> {
        // A folder of its own, so that what the editor puts beside the file is removed too.
        let mut folder = tempfile::Builder::new();
        folder.prefix("switchboard-");
        #[cfg(unix)]
        folder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let folder = folder.tempdir()?;
        let mut file =
            tempfile::Builder::new().prefix("arguments-").suffix(".json").tempfile_in(&folder)?;
        writeln!(file, "{text}")?;
        file.flush()?;
        let program = self.program.clone();
        // Standard output may be a file; a person is at standard error.
        let status = Command::new(&program)
            .args(&self.arguments)
            .arg(file.path())
            .stdout(Stdio::from(std::io::stderr()))
            .status()
            .map_err(|cause| OutsideEditorError::Start { program: program.clone(), cause })?;
        if !status.success() {
            return Err(OutsideEditorError::Failed { program, status });
        }
        // By its name: many editors write another file and put it in its place.
        Ok(std::fs::read_to_string(file.path())?)
    }
}

#[cfg(test)]
mod tests {
    use super::OutsideEditor;

    fn editor(words: &str) -> OutsideEditor {
        OutsideEditor::parse(Some(words.into())).unwrap()
    }

    #[test]
    fn the_variable_may_hold_arguments() {
        let expected =
            OutsideEditor { program: "code".to_owned(), arguments: vec!["--wait".to_owned()] };
        assert_eq!(editor(" code  --wait "), expected);
        assert_eq!(OutsideEditor::parse(Some("  ".into())), None);
        assert_eq!(OutsideEditor::parse(None), None);
    }

    #[cfg(unix)]
    #[test]
    fn the_text_comes_back_changed_and_nothing_stays_behind() {
        use std::os::unix::fs::PermissionsExt as _;
        let home = tempfile::tempdir().unwrap();
        let script = home.path().join("editor.sh");
        let trace = home.path().join("trace");
        // Writes another file in place of the first, as many editors do.
        let text = format!(
            "#!/bin/sh\nstat -c %a \"$1\" > {0}\necho \"$1\" >> {0}\nsed s/1/2/ \"$1\" > \"$1.new\"\ntouch \"$1~\"\nmv \"$1.new\" \"$1\"\n",
            trace.display()
        );
        std::fs::write(&script, text).unwrap();
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
        let edited = editor(&format!("/bin/sh {}", script.display())).edit("{\"a\":1}").unwrap();
        assert_eq!(edited, "{\"a\":2}\n");
        let trace = std::fs::read_to_string(trace).unwrap();
        let (mode, path) = trace.trim().split_once('\n').unwrap();
        assert_eq!(mode, "600");
        assert!(!std::path::Path::new(path).parent().unwrap().exists());
    }

    #[cfg(unix)]
    #[test]
    fn an_editor_that_fails_changes_nothing() {
        let failed = editor("false").edit("x").unwrap_err().to_string();
        assert_eq!(failed, "the editor `false` ended with exit status: 1");
        let missing = editor("no-such-editor-anywhere").edit("x").unwrap_err().to_string();
        assert!(missing.starts_with("the editor `no-such-editor-anywhere` does not start"));
    }
}
