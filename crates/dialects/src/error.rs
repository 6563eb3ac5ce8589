//! Why a whole file cannot be read or changed.

/// Why a whole file cannot be read or changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DialectError {
    /// The file is not of the format that the product uses.
    #[error("line {line}: {message}")]
    Syntax {
        /// The line, counted from 1.
        line: usize,
        /// What is wrong there.
        message: String,
    },
    /// Something in the file is not what the product expects there.
    #[error("`{path}` must be {wanted}")]
    Shape {
        /// The keys to it, with dots between them.
        path: String,
        /// What it should be.
        wanted: &'static str,
    },
    /// The file has two servers of one name, so it is not known which one counts.
    #[error("there are two servers `{0}`")]
    Twice(String),
    /// The change would have touched something else.
    #[error("the file cannot be changed without touching something else")]
    Touches,
}

impl DialectError {
    /// What to do about it.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Syntax { .. } | Self::Shape { .. } => "put it right in an editor",
            Self::Twice(_) => "remove one of them in an editor",
            Self::Touches => "change it in an editor",
        }
    }
}
