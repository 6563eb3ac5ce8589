//! Edits text in the user's own editor, through a temporary private file.

use std::ffi::OsString;
use std::io::Write as _;
use std::process::{Command, Stdio};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OutsideEditor {
    program: String,
    arguments: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum OutsideEditorError {
    #[error("cannot prepare the file for the editor: {0}")]
    File(#[from] std::io::Error),
    #[error("cannot start the editor `{program}`: {cause}")]
    Start { program: String, cause: std::io::Error },
    /// The editor failed, so the content of the file is not trusted.
    #[error("the editor `{program}` exited with {status}")]
    Failed { program: String, status: std::process::ExitStatus },
}

impl OutsideEditor {
    /// Returns the editor that `VISUAL` or `EDITOR` names.
    pub(crate) fn chosen() -> Option<Self> {
        ["VISUAL", "EDITOR"].into_iter().find_map(|name| Self::parse(std::env::var_os(name)))
    }

    /// Splits the value at white space; no shell interprets it.
    fn parse(value: Option<OsString>) -> Option<Self> {
        let value = value?.into_string().ok()?;
        let mut words = value.split_whitespace().map(str::to_owned);
        Some(Self { program: words.next()?, arguments: words.collect() })
    }

    pub(crate) fn edit(&self, text: &str) -> Result<String, OutsideEditorError> {
        // The file has its own folder, so that backup files of the editor are removed as well.
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
        // Standard output may be redirected, so the editor uses the terminal at standard error.
        let status = Command::new(&program)
            .args(&self.arguments)
            .arg(file.path())
            .stdout(Stdio::from(std::io::stderr()))
            .status()
            .map_err(|cause| OutsideEditorError::Start { program: program.clone(), cause })?;
        if !status.success() {
            return Err(OutsideEditorError::Failed { program, status });
        }
        // Read by name, because many editors replace the file instead of writing to it.
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
        // Replaces the file instead of writing to it, as many editors do.
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
        assert_eq!(failed, "the editor `false` exited with exit status: 1");
        let missing = editor("no-such-editor-anywhere").edit("x").unwrap_err().to_string();
        assert!(missing.starts_with("cannot start the editor `no-such-editor-anywhere`"));
    }
}
