//! `VariableText`: a value of an entry, split into literal text and variables.

use crate::note::NoteWeight;

/// A text in which variables are known as such, whatever a product writes for them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VariableText(Vec<VariablePiece>);

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VariablePiece {
    /// Characters that stand for themselves.
    Literal(String),
    /// A variable of the environment.
    Variable {
        name: String,
        /// What counts where it is not set.
        default: Option<String>,
    },
    /// Something that a person gives once and that is kept: a secret of ours, an input of VS Code.
    Secret(String),
    /// A folder, or what separates folders.
    Folder(KnownFolder),
}

/// What a text can say about folders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownFolder {
    Home,
    /// The folder of the project.
    Workspace,
    WorkspaceName,
    Separator,
}

impl KnownFolder {
    /// The word that stands for it.
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
    /// What is given once and kept.
    pub(crate) secrets: bool,
    /// A variable counts only if it is the whole text.
    pub(crate) whole: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SyntaxStyle {
    Plain,
    Braces,
    /// `${env:NAME}`, and `${input:ID}` for secrets.
    EnvBraces,
    Dollar,
    /// The same and `%NAME%`.
    DollarPercent,
    Curly,
    /// Our own: all of `${…}`, and `$${` for a plain `${`.
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
    /// Where everybody can look there are no secrets.
    pub(crate) const OURS_OPEN: Self = Self {
        style: SyntaxStyle::Ours,
        defaults: true,
        folders: true,
        secrets: false,
        whole: false,
    };
    pub(crate) const OURS: Self = Self { secrets: true, ..Self::OURS_OPEN };
}

/// What is different in a text that was rendered.
pub(crate) type RenderProblem = (NoteWeight, String);

impl VariableText {
    /// A text without variables.
    pub fn literal(text: impl Into<String>) -> Self {
        Self::from_pieces([VariablePiece::Literal(text.into())])
    }

    /// A text of these pieces.
    pub fn from_pieces(pieces: impl IntoIterator<Item = VariablePiece>) -> Self {
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

    /// A variable of the environment, alone.
    pub fn variable(name: impl Into<String>) -> Self {
        Self(vec![VariablePiece::Variable { name: name.into(), default: None }])
    }

    /// Something that is kept for a server, alone.
    pub fn secret(name: impl Into<String>) -> Self {
        Self(vec![VariablePiece::Secret(name.into())])
    }

    /// Its pieces.
    pub fn pieces(&self) -> &[VariablePiece] {
        &self.0
    }

    /// The text itself, if there is no variable in it.
    pub fn as_literal(&self) -> Option<&str> {
        match self.0.as_slice() {
            [] => Some(""),
            [VariablePiece::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// The variable that it is, with nothing around it.
    pub(crate) fn as_variable(&self) -> Option<&str> {
        match self.0.as_slice() {
            [VariablePiece::Variable { name, default: None }] => Some(name),
            _ => None,
        }
    }

    /// The secret that it is, with nothing around it.
    pub(crate) fn as_secret(&self) -> Option<&str> {
        match self.0.as_slice() {
            [VariablePiece::Secret(name)] => Some(name),
            _ => None,
        }
    }

    /// As our own files write it.
    pub fn to_own_syntax(&self) -> String {
        self.render(Syntax::OURS).0
    }

    /// What a product makes of it: the text to write, and what is different then.
    pub(crate) fn render(&self, syntax: Syntax) -> (String, Vec<RenderProblem>) {
        let mut problems = Vec::new();
        let mut text = String::new();
        for piece in &self.0 {
            text.push_str(&syntax.piece(piece, &mut problems));
        }
        if problems.is_empty() && Self::parse(&text, syntax) != *self {
            let message = "holds characters that mean something else there";
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

/// Whether it is a plain name of a variable.
pub(crate) fn is_name(text: &str) -> bool {
    text.chars().next().is_some_and(|first| !first.is_ascii_digit())
        && text.chars().all(|one| one.is_ascii_alphanumeric() || one == '_')
}

/// A name for a secret of ours, made of what another product calls it.
pub(crate) fn secret_name(id: &str) -> String {
    let plain = |one: char| if one.is_ascii_alphanumeric() { one } else { '_' };
    let name: String = id.chars().map(plain).collect();
    if is_name(&name) { name } else { format!("_{name}") }
}
