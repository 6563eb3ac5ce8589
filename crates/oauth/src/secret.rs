//! A text that is never printed: tokens, secrets of clients, keys.

use std::fmt;

use serde::{Deserialize, Serialize};
use switchboard_text::add_secrets;

/// A text that is never printed. Only the sealed store writes it down; wherever else it turns up, it
/// is taken out.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Secret(String);

impl Secret {
    /// Makes a secret of a text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        add_secrets([text.as_str()]);
        Self(text)
    }

    /// The text itself, for whoever is meant to see it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl From<Secret> for String {
    fn from(secret: Secret) -> Self {
        secret.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::Secret;

    #[test]
    fn a_secret_is_not_printed() {
        assert_eq!(format!("{:?}", Some(Secret::new("hunter2"))), "Some(Secret(…))");
    }
}
