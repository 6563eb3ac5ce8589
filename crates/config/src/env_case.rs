//! Case sensitivity of environment variables: on Windows, `Path` and `PATH` are the same.

use std::collections::BTreeMap;

/// How a platform compares the names of environment variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnvCase {
    Exact,
    AnyCase,
}

impl EnvCase {
    /// The comparison of the current platform.
    pub const NATIVE: Self = if cfg!(windows) { Self::AnyCase } else { Self::Exact };

    /// Returns whether both are names of the same variable.
    pub fn is_same(self, one: &str, other: &str) -> bool {
        match self {
            Self::Exact => one == other,
            Self::AnyCase => one.eq_ignore_ascii_case(other),
        }
    }

    /// Returns the value of a variable, in any spelling.
    pub fn find<'a>(self, variables: &'a BTreeMap<String, String>, name: &str) -> Option<&'a str> {
        let spelled = || variables.iter().find(|(other, _)| self.is_same(other, name));
        // The exact spelling wins, if a map contains several.
        let value = match self {
            Self::Exact => variables.get(name),
            Self::AnyCase => variables.get(name).or_else(|| spelled().map(|(_, value)| value)),
        };
        value.map(String::as_str)
    }

    /// Sets a variable, and removes other spellings of it.
    pub fn set(self, variables: &mut BTreeMap<String, String>, name: String, value: String) {
        // Windows would use only one of several spellings, possibly the old value.
        if self == Self::AnyCase {
            variables.retain(|other, _| !self.is_same(other, &name));
        }
        variables.insert(name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::EnvCase;

    #[test]
    fn a_variable_has_one_value_however_its_name_is_spelled() {
        for (letters, value, left) in [
            (EnvCase::Exact, Some("/usr/bin"), &["PATH=/usr/bin", "Path=C:\\x"][..]),
            (EnvCase::AnyCase, Some("/usr/bin"), &["PATH=/usr/bin"][..]),
        ] {
            let mut variables = [("Path".to_owned(), "C:\\x".to_owned())].into();
            letters.set(&mut variables, "PATH".to_owned(), "/usr/bin".to_owned());
            assert_eq!(letters.find(&variables, "PATH"), value, "{letters:?}");
            let found: Vec<String> =
                variables.iter().map(|(name, value)| format!("{name}={value}")).collect();
            assert_eq!(found, left, "{letters:?}");
        }
        let variables = [("Path".to_owned(), "C:\\x".to_owned())].into();
        assert_eq!(EnvCase::Exact.find(&variables, "PATH"), None);
        assert_eq!(EnvCase::AnyCase.find(&variables, "PATH"), Some("C:\\x"));
    }
}
