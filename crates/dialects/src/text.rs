//! `VariableText`: a value of an entry, split into literal text and variables.

use crate::note::NoteWeight;

/// A text whose variables are parsed, independent of a product's syntax.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VariableText(Vec<VariablePiece>);

/// A literal or a variable in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VariablePiece {
    Literal(String),
    Variable {
        name: String,
        default: Option<String>,
    },
    /// A value that a person enters once and that is stored: a secret of ours, an input of VS Code.
    Secret(String),
    Folder(KnownFolder),
}

/// The predefined path variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownFolder {
    Home,
    Workspace,
    WorkspaceName,
    Separator,
}

impl KnownFolder {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Home => "userHome",
            Self::Workspace => "workspaceFolder",
            Self::WorkspaceName => "workspaceFolderBasename",
            Self::Separator => "pathSeparator",
        }
    }

    pub(crate) fn from_word(word: &str) -> Option<Self> {
        match word {
            "userHome" => Some(Self::Home),
            "workspaceFolder" => Some(Self::Workspace),
            "workspaceFolderBasename" => Some(Self::WorkspaceName),
            "pathSeparator" | "/" => Some(Self::Separator),
            _ => None,
        }
    }
}

/// How a product writes variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Syntax {
    pub(crate) style: SyntaxStyle,
    pub(crate) defaults: bool,
    pub(crate) folders: bool,
    pub(crate) secrets: bool,
    /// Whether a variable must be the whole text.
    pub(crate) whole: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SyntaxStyle {
    Plain,
    Braces,
    /// `${env:NAME}`, and `${input:ID}` for secrets.
    EnvBraces,
    Dollar,
    /// Like `Dollar`, and also `%NAME%`.
    DollarPercent,
    Curly,
    /// Our own: every form of `${…}`, and `$${` for a literal `${`.
    Ours,
}

impl Syntax {
    pub(crate) const PLAIN: Self = Self {
        style: SyntaxStyle::Plain,
        defaults: false,
        folders: false,
        secrets: false,
        whole: false,
    };
    pub(crate) const ENV: Self = Self { style: SyntaxStyle::EnvBraces, ..Self::PLAIN };
    pub(crate) const BRACES_DEFAULT: Self =
        Self { style: SyntaxStyle::Braces, defaults: true, ..Self::PLAIN };
    pub(crate) const WHOLE: Self = Self { style: SyntaxStyle::Braces, whole: true, ..Self::PLAIN };
    pub(crate) const ENV_FOLDERS: Self = Self { folders: true, ..Self::ENV };
    pub(crate) const ENV_INPUTS: Self = Self { secrets: true, ..Self::ENV_FOLDERS };
    pub(crate) const DOLLAR: Self = Self { style: SyntaxStyle::Dollar, ..Self::PLAIN };
    pub(crate) const DOLLAR_PERCENT: Self =
        Self { style: SyntaxStyle::DollarPercent, ..Self::PLAIN };
    pub(crate) const CURLY: Self = Self { style: SyntaxStyle::Curly, ..Self::PLAIN };
    /// For values that other users can see, which therefore must not contain secrets.
    pub(crate) const OURS_OPEN: Self = Self {
        style: SyntaxStyle::Ours,
        defaults: true,
        folders: true,
        secrets: false,
        whole: false,
    };
    pub(crate) const OURS: Self = Self { secrets: true, ..Self::OURS_OPEN };
}

pub(crate) type RenderProblem = (NoteWeight, String);

impl VariableText {
    /// Creates a text without variables.
    pub fn literal(text: impl Into<String>) -> Self {
        Self::from_pieces([VariablePiece::Literal(text.into())])
    }

    /// Creates a text from pieces.
    pub fn from_pieces(pieces: impl IntoIterator<Item = VariablePiece>) -> Self {
        // Adjacent literals are merged, so that equal texts compare equal.
        let mut merged: Vec<VariablePiece> = Vec::new();
        for piece in pieces {
            match (merged.last_mut(), piece) {
                (_, VariablePiece::Literal(text)) if text.is_empty() => {}
                (Some(VariablePiece::Literal(before)), VariablePiece::Literal(text)) => {
                    before.push_str(&text);
                }
                (_, piece) => merged.push(piece),
            }
        }
        Self(merged)
    }

    /// Creates a text that is a single environment variable.
    pub fn variable(name: impl Into<String>) -> Self {
        Self(vec![VariablePiece::Variable { name: name.into(), default: None }])
    }

    /// Creates a text that is a single secret.
    pub fn secret(name: impl Into<String>) -> Self {
        Self(vec![VariablePiece::Secret(name.into())])
    }

    /// Returns the pieces of the text.
    pub fn pieces(&self) -> &[VariablePiece] {
        &self.0
    }

    /// Returns the text if it has no variables.
    pub fn as_literal(&self) -> Option<&str> {
        match self.0.as_slice() {
            [] => Some(""),
            [VariablePiece::Literal(text)] => Some(text),
            _ => None,
        }
    }

    pub(crate) fn as_variable(&self) -> Option<&str> {
        match self.0.as_slice() {
            [VariablePiece::Variable { name, default: None }] => Some(name),
            _ => None,
        }
    }

    pub(crate) fn as_secret(&self) -> Option<&str> {
        match self.0.as_slice() {
            [VariablePiece::Secret(name)] => Some(name),
            _ => None,
        }
    }

    /// Formats the text in our own syntax.
    pub fn to_own_syntax(&self) -> String {
        self.render(Syntax::OURS).0
    }

    /// Formats the text in a product's syntax, and returns the differences.
    pub(crate) fn render(&self, syntax: Syntax) -> (String, Vec<RenderProblem>) {
        let mut problems = Vec::new();
        let mut text = String::new();
        for piece in &self.0 {
            text.push_str(&syntax.piece(piece, &mut problems));
        }
        // A literal such as `$HOME` may be a variable in the other syntax.
        if problems.is_empty() && Self::parse(&text, syntax) != *self {
            let message = "contains characters with a special meaning there";
            problems.push((NoteWeight::Lost, message.to_owned()));
        }
        (text, problems)
    }
}

impl Syntax {
    fn piece(self, piece: &VariablePiece, problems: &mut Vec<RenderProblem>) -> String {
        match piece {
            VariablePiece::Literal(text) if self.style == SyntaxStyle::Ours => {
                text.replace("${", "$${")
            }
            VariablePiece::Literal(text) => text.clone(),
            VariablePiece::Variable { name, default } => {
                let default = default.as_deref();
                if let (Some(_), false) = (default, self.defaults) {
                    problems
                        .push((NoteWeight::Lost, format!("the default of `${{{name}}}` is lost")));
                }
                self.variable(name, default.filter(|_| self.defaults), problems)
            }
            VariablePiece::Secret(name) if self.secrets => match self.style {
                SyntaxStyle::Ours => format!("${{keyring:{name}}}"),
                _ => format!("${{input:{name}}}"),
            },
            VariablePiece::Secret(name) => {
                // In plain texts, `variable` reports that nothing is replaced.
                if self.style != SyntaxStyle::Plain {
                    let message =
                        format!("`${{keyring:{name}}}` is read from the variable `{name}`");
                    problems.push((NoteWeight::Changed, message));
                }
                self.variable(name, None, problems)
            }
            VariablePiece::Folder(folder) if self.folders => format!("${{{}}}", folder.word()),
            VariablePiece::Folder(KnownFolder::Home) if self.style != SyntaxStyle::Plain => {
                let message = "`${userHome}` is read from the variable `HOME`";
                problems.push((NoteWeight::Changed, message.to_owned()));
                self.variable("HOME", None, problems)
            }
            VariablePiece::Folder(folder) => {
                let word = folder.word();
                problems.push((NoteWeight::Lost, format!("`${{{word}}}` is not replaced there")));
                format!("${{{word}}}")
            }
        }
    }

    fn variable(
        self,
        name: &str,
        default: Option<&str>,
        problems: &mut Vec<RenderProblem>,
    ) -> String {
        let default = default.map(|default| format!(":-{default}")).unwrap_or_default();
        match self.style {
            SyntaxStyle::Plain => {
                problems.push((NoteWeight::Lost, format!("`${{{name}}}` is not replaced there")));
                format!("${{{name}}}")
            }
            SyntaxStyle::EnvBraces => format!("${{env:{name}}}"),
            SyntaxStyle::Curly => format!("{{env:{name}}}"),
            // Only with the prefix may a name contain other characters.
            SyntaxStyle::Ours if !is_name(name) => format!("${{env:{name}{default}}}"),
            SyntaxStyle::Braces
            | SyntaxStyle::Dollar
            | SyntaxStyle::DollarPercent
            | SyntaxStyle::Ours => {
                format!("${{{name}{default}}}")
            }
        }
    }
}

pub(crate) fn is_name(text: &str) -> bool {
    text.chars().next().is_some_and(|first| !first.is_ascii_digit())
        && text.chars().all(|one| one.is_ascii_alphanumeric() || one == '_')
}

/// Converts another product's id to a valid name of a secret.
pub(crate) fn secret_name(id: &str) -> String {
    let plain = |one: char| if one.is_ascii_alphanumeric() { one } else { '_' };
    let name: String = id.chars().map(plain).collect();
    if is_name(&name) { name } else { format!("_{name}") }
}
