//! `Text`: a value of an entry, with the variables in it known as such.

use crate::note::Weight;

/// A text in which variables are known as such, whatever a product writes for them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Text(Vec<Piece>);

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Characters that stand for themselves.
    Literal(String),
    /// A variable of the environment.
    Variable {
        /// Its name.
        name: String,
        /// What counts where it is not set.
        default: Option<String>,
    },
    /// Something that a person gives once and that is kept: a secret of ours, an input of VS Code.
    Secret(String),
    /// A folder, or what separates folders.
    Folder(Folder),
}

/// What a text can say about folders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Folder {
    /// The user's home.
    Home,
    /// The folder of the project.
    Workspace,
    /// Its last name.
    WorkspaceName,
    /// `/` or `\`.
    Separator,
}

impl Folder {
    /// The word that stands for it.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Home => "userHome",
            Self::Workspace => "workspaceFolder",
            Self::WorkspaceName => "workspaceFolderBasename",
            Self::Separator => "pathSeparator",
        }
    }

    pub(crate) fn of(word: &str) -> Option<Self> {
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
    pub(crate) style: Style,
    /// `${NAME:-default}`.
    pub(crate) defaults: bool,
    /// `${userHome}` and others.
    pub(crate) folders: bool,
    /// What is given once and kept.
    pub(crate) secrets: bool,
    /// A variable counts only if it is the whole text.
    pub(crate) whole: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// No variables.
    Plain,
    /// `${NAME}`.
    Braces,
    /// `${env:NAME}`, and `${input:ID}` for secrets.
    EnvBraces,
    /// `$NAME`, `${NAME}`.
    Dollar,
    /// The same and `%NAME%`.
    DollarPercent,
    /// `{env:NAME}`.
    Curly,
    /// Our own: all of `${…}`, and `$${` for a plain `${`.
    Ours,
}

impl Syntax {
    pub(crate) const PLAIN: Self =
        Self { style: Style::Plain, defaults: false, folders: false, secrets: false, whole: false };
    pub(crate) const ENV: Self = Self { style: Style::EnvBraces, ..Self::PLAIN };
    pub(crate) const BRACES_DEFAULT: Self =
        Self { style: Style::Braces, defaults: true, ..Self::PLAIN };
    pub(crate) const WHOLE: Self = Self { style: Style::Braces, whole: true, ..Self::PLAIN };
    pub(crate) const ENV_FOLDERS: Self = Self { folders: true, ..Self::ENV };
    pub(crate) const ENV_INPUTS: Self = Self { secrets: true, ..Self::ENV_FOLDERS };
    pub(crate) const DOLLAR: Self = Self { style: Style::Dollar, ..Self::PLAIN };
    pub(crate) const DOLLAR_PERCENT: Self = Self { style: Style::DollarPercent, ..Self::PLAIN };
    pub(crate) const CURLY: Self = Self { style: Style::Curly, ..Self::PLAIN };
    /// Where everybody can look there are no secrets.
    pub(crate) const OURS_OPEN: Self =
        Self { style: Style::Ours, defaults: true, folders: true, secrets: false, whole: false };
    pub(crate) const OURS: Self = Self { secrets: true, ..Self::OURS_OPEN };
}

/// What is different in a text that was rendered.
pub(crate) type Problem = (Weight, String);

impl Text {
    /// A text without variables.
    pub fn literal(text: impl Into<String>) -> Self {
        Self::of([Piece::Literal(text.into())])
    }

    /// A text of these pieces.
    pub fn of(pieces: impl IntoIterator<Item = Piece>) -> Self {
        let mut merged: Vec<Piece> = Vec::new();
        for piece in pieces {
            match (merged.last_mut(), piece) {
                (_, Piece::Literal(text)) if text.is_empty() => {}
                (Some(Piece::Literal(before)), Piece::Literal(text)) => before.push_str(&text),
                (_, piece) => merged.push(piece),
            }
        }
        Self(merged)
    }

    /// A variable of the environment, alone.
    pub fn variable(name: impl Into<String>) -> Self {
        Self(vec![Piece::Variable { name: name.into(), default: None }])
    }

    /// Something that is kept for a server, alone.
    pub fn secret(name: impl Into<String>) -> Self {
        Self(vec![Piece::Secret(name.into())])
    }

    /// Its pieces.
    pub fn pieces(&self) -> &[Piece] {
        &self.0
    }

    /// The text itself, if there is no variable in it.
    pub fn as_literal(&self) -> Option<&str> {
        match self.0.as_slice() {
            [] => Some(""),
            [Piece::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// The variable that it is, with nothing around it.
    pub(crate) fn as_variable(&self) -> Option<&str> {
        match self.0.as_slice() {
            [Piece::Variable { name, default: None }] => Some(name),
            _ => None,
        }
    }

    /// The secret that it is, with nothing around it.
    pub(crate) fn as_secret(&self) -> Option<&str> {
        match self.0.as_slice() {
            [Piece::Secret(name)] => Some(name),
            _ => None,
        }
    }

    /// As our own files write it.
    pub fn in_our_words(&self) -> String {
        self.render(Syntax::OURS).0
    }

    /// What a product makes of it: the text to write, and what is different then.
    pub(crate) fn render(&self, syntax: Syntax) -> (String, Vec<Problem>) {
        let mut problems = Vec::new();
        let mut text = String::new();
        for piece in &self.0 {
            text.push_str(&syntax.piece(piece, &mut problems));
        }
        if problems.is_empty() && Self::parse(&text, syntax) != *self {
            let message = "holds characters that mean something else there";
            problems.push((Weight::Lost, message.to_owned()));
        }
        (text, problems)
    }
}

impl Syntax {
    fn piece(self, piece: &Piece, problems: &mut Vec<Problem>) -> String {
        match piece {
            Piece::Literal(text) if self.style == Style::Ours => text.replace("${", "$${"),
            Piece::Literal(text) => text.clone(),
            Piece::Variable { name, default } => {
                let default = default.as_deref();
                if let (Some(_), false) = (default, self.defaults) {
                    problems.push((Weight::Lost, format!("the default of `${{{name}}}` is lost")));
                }
                self.variable(name, default.filter(|_| self.defaults), problems)
            }
            Piece::Secret(name) if self.secrets => match self.style {
                Style::Ours => format!("${{keyring:{name}}}"),
                _ => format!("${{input:{name}}}"),
            },
            Piece::Secret(name) => {
                if self.style != Style::Plain {
                    let message =
                        format!("`${{keyring:{name}}}` is read from the variable `{name}`");
                    problems.push((Weight::Changed, message));
                }
                self.variable(name, None, problems)
            }
            Piece::Folder(folder) if self.folders => format!("${{{}}}", folder.word()),
            Piece::Folder(Folder::Home) if self.style != Style::Plain => {
                let message = "`${userHome}` is read from the variable `HOME`";
                problems.push((Weight::Changed, message.to_owned()));
                self.variable("HOME", None, problems)
            }
            Piece::Folder(folder) => {
                let word = folder.word();
                problems.push((Weight::Lost, format!("`${{{word}}}` is not replaced there")));
                format!("${{{word}}}")
            }
        }
    }

    fn variable(self, name: &str, default: Option<&str>, problems: &mut Vec<Problem>) -> String {
        let default = default.map(|default| format!(":-{default}")).unwrap_or_default();
        match self.style {
            Style::Plain => {
                problems.push((Weight::Lost, format!("`${{{name}}}` is not replaced there")));
                format!("${{{name}}}")
            }
            Style::EnvBraces => format!("${{env:{name}}}"),
            Style::Curly => format!("{{env:{name}}}"),
            Style::Ours if !is_name(name) => format!("${{env:{name}{default}}}"),
            Style::Braces | Style::Dollar | Style::DollarPercent | Style::Ours => {
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
