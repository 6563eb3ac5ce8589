//! An entry of a project's file -> one that means the same wherever it is used.

use std::path::{Path, is_separator};

use crate::entry::{Entry, Reach};
use crate::text::{Folder, Piece, Text};

impl Entry {
    /// The same server with the folder of its project in it: what said "this project" still says so
    /// when the entry is used elsewhere.
    pub fn pinned(&self, project: &Path) -> Self {
        let mut entry = self.clone();
        for text in entry.texts_mut() {
            *text = in_project(text, project);
        }
        if let Reach::Stdio { command, env_file, cwd, .. } = &mut entry.reach {
            // A bare name is looked up elsewhere.
            if command.as_literal().is_some_and(|words| words.contains(is_separator)) {
                *command = absolute(command, project);
            }
            for text in env_file.iter_mut().chain(cwd.iter_mut()) {
                *text = absolute(text, project);
            }
            // Products start what a project brings in its folder.
            cwd.get_or_insert_with(|| Text::literal(project.display().to_string()));
        }
        entry
    }

    /// Whether what it starts depends on the folder in which somebody happens to work.
    pub fn is_of_any_folder(&self) -> bool {
        let Reach::Stdio { command, args, .. } = &self.reach else { return false };
        let names_folder = |text: &Text| text.pieces().contains(&Piece::Folder(Folder::Workspace));
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

fn in_project(text: &Text, project: &Path) -> Text {
    let name = project.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let pieces = text.pieces().iter().map(|piece| match piece {
        Piece::Folder(Folder::Workspace) => Piece::Literal(project.display().to_string()),
        Piece::Folder(Folder::WorkspaceName) => Piece::Literal(name.clone()),
        other => other.clone(),
    });
    Text::of(pieces)
}

fn absolute(text: &Text, project: &Path) -> Text {
    match text.pieces().first() {
        Some(Piece::Literal(words)) if !words.starts_with('~') && !words.contains(":\\") => {
            let whole = project.join(words).display().to_string();
            let rest = text.pieces().iter().skip(1).cloned();
            Text::of(std::iter::once(Piece::Literal(whole)).chain(rest))
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
        let entry = Entry::from_ours("it", &ours).unwrap().0;
        assert!(entry.is_of_any_folder());
        let pinned = entry.pinned(Path::new("/code/app"));
        assert!(!pinned.is_of_any_folder());
        let expected = json!({
            "command": "/code/app/./tools/serve", "args": ["/code/app/data", "x/y"],
            "cwd": "/code/app/sub", "env": {"NAME": "app"},
        });
        assert_eq!(pinned.to_ours().1, expected);
    }

    #[test]
    fn a_program_of_the_path_starts_in_the_project() {
        let pinned = Entry::program("it", "npx", &["-y", "x"]).pinned(Path::new("/code/app"));
        let expected = json!({"command": "npx", "args": ["-y", "x"], "cwd": "/code/app"});
        assert_eq!(pinned.to_ours().1, expected);
    }
}
