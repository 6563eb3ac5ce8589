//! Makes an entry of a project's file independent of the current folder.

use std::path::{Path, is_separator};

use crate::entry::{EntryTransport, ServerEntry};
use crate::text::{KnownFolder, VariablePiece, VariableText};

impl ServerEntry {
    /// Replaces references to the project folder, so that the entry can be used elsewhere.
    pub fn with_project_folder(&self, project: &Path) -> Self {
        let mut entry = self.clone();
        for text in entry.texts_mut() {
            *text = in_project(text, project);
        }
        // Arguments stay as they are: not every word with a slash is a path.
        if let EntryTransport::Stdio { command, env_file, cwd, .. } = &mut entry.reach {
            // A bare name is looked up in `PATH`.
            if command.as_literal().is_some_and(|words| words.contains(is_separator)) {
                *command = absolute(command, project);
            }
            for text in env_file.iter_mut().chain(cwd.iter_mut()) {
                *text = absolute(text, project);
            }
            // Products start servers of a project in the project's folder.
            cwd.get_or_insert_with(|| VariableText::literal(project.display().to_string()));
        }
        entry
    }

    /// Returns whether the started program depends on the current folder.
    pub fn depends_on_folder(&self) -> bool {
        let EntryTransport::Stdio { command, args, .. } = &self.reach else { return false };
        let names_folder = |text: &VariableText| {
            text.pieces().contains(&VariablePiece::Folder(KnownFolder::Workspace))
        };
        // A Windows path with a drive is not absolute for `Path` on Unix.
        let is_relative = |words: &str| {
            words.contains(is_separator)
                && !words.starts_with('~')
                && !Path::new(words).is_absolute()
                && !words.contains(":\\")
        };
        names_folder(command)
            || args.iter().any(names_folder)
            || command.as_literal().is_some_and(is_relative)
    }
}

fn in_project(text: &VariableText, project: &Path) -> VariableText {
    let name = project.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let pieces = text.pieces().iter().map(|piece| match piece {
        VariablePiece::Folder(KnownFolder::Workspace) => {
            VariablePiece::Literal(project.display().to_string())
        }
        VariablePiece::Folder(KnownFolder::WorkspaceName) => VariablePiece::Literal(name.clone()),
        other => other.clone(),
    });
    VariableText::from_pieces(pieces)
}

fn absolute(text: &VariableText, project: &Path) -> VariableText {
    match text.pieces().first() {
        Some(VariablePiece::Literal(words))
            if !words.starts_with('~') && !words.contains(":\\") =>
        {
            let whole = project.join(words).display().to_string();
            let rest = text.pieces().iter().skip(1).cloned();
            VariableText::from_pieces(std::iter::once(VariablePiece::Literal(whole)).chain(rest))
        }
        _ => text.clone(),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_server_of_a_project_stays_one_of_that_project() {
        let ours = json!({
            "command": "./tools/serve", "args": ["${workspaceFolder}/data", "x/y"],
            "cwd": "sub", "env": {"NAME": "${workspaceFolderBasename}"},
        });
        let entry = ServerEntry::from_ours("it", &ours).unwrap().0;
        assert!(entry.depends_on_folder());
        let pinned = entry.with_project_folder(Path::new("/code/app"));
        assert!(!pinned.depends_on_folder());
        let expected = json!({
            "command": "/code/app/./tools/serve", "args": ["/code/app/data", "x/y"],
            "cwd": "/code/app/sub", "env": {"NAME": "app"},
        });
        assert_eq!(pinned.to_ours().1, expected);
    }

    #[test]
    fn a_program_of_the_path_starts_in_the_project() {
        let pinned = ServerEntry::program("it", "npx", &["-y", "x"])
            .with_project_folder(Path::new("/code/app"));
        let expected = json!({"command": "npx", "args": ["-y", "x"], "cwd": "/code/app"});
        assert_eq!(pinned.to_ours().1, expected);
    }
}
