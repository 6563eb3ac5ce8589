//! `Secret`: text that is never printed, such as tokens, client secrets and keys.

use std::fmt;

use serde::{Deserialize, Serialize};
use switchboard_text::add_secrets;

/// Text that is never printed. Only the sealed store writes it; everywhere else it is redacted.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Secret(String);

impl Secret {
    /// Creates a secret and registers it for redaction.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        add_secrets([text.as_str()]);
        Self(text)
    }

    /// Returns the secret text itself.
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
        // Errors and records derive `Debug` and may be logged.
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
