//! The process environment as a value: variables, home and current folder.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use switchboard_document::ConfigError;

use crate::env_case::EnvCase;

/// The part of the process state that loading may use.
#[derive(Clone, PartialEq, Eq)]
pub struct Environment {
    /// The variables whose name and value are Unicode.
    pub variables: BTreeMap<String, String>,
    pub home: Option<PathBuf>,
    pub current_dir: PathBuf,
}

impl Environment {
    /// Reads the environment of this process.
    pub fn from_process() -> Self {
        let variables = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        Self {
            variables,
            home: std::env::home_dir().filter(|home| home.is_absolute()),
            current_dir: std::env::current_dir().unwrap_or_else(|_| PathBuf::from(".")),
        }
    }

    /// Reads the environment of this process; rejects variables for our files that are not UTF-8.
    pub fn from_process_checked() -> Result<Self, ConfigError> {
        // Ignoring such a variable would silently use the files of another place.
        let of_us = |name: &str| {
            name.starts_with("SWITCHBOARD_")
                || ["XDG_CONFIG_HOME", "XDG_STATE_HOME"].contains(&name)
        };
        let unreadable = std::env::vars_os().find_map(|(name, value)| {
            let name = name.into_string().ok().filter(|name| of_us(name))?;
            value.to_str().is_none().then_some(name)
        });
        match unreadable {
            None => Ok(Self::from_process()),
            Some(name) => {
                let message = format!("the variable `{name}` is not UTF-8 text");
                Err(ConfigError::new(Path::new(""), message)
                    .hint("use a UTF-8 path, for example that of a link to the folder"))
            }
        }
    }

    /// Returns the value of a variable, which may be empty.
    pub fn variable(&self, name: &str) -> Option<&str> {
        EnvCase::NATIVE.find(&self.variables, name)
    }

    /// Returns the value of a variable that names a folder. An empty value counts as unset.
    pub fn folder(&self, name: &str) -> Option<PathBuf> {
        self.variable(name).filter(|value| !value.is_empty()).map(PathBuf::from)
    }
}

// Prints only the names of variables: values are often secrets.
impl fmt::Debug for Environment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Environment")
            .field("variables", &self.variables.keys())
            .field("home", &self.home)
            .field("current_dir", &self.current_dir)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_process_is_read_as_it_is() {
        let environment = Environment::from_process();
        assert_eq!(environment.variable("PATH"), std::env::var("PATH").ok().as_deref());
        assert_eq!(environment.current_dir, std::env::current_dir().unwrap());
    }

    #[test]
    fn values_are_not_printed() {
        let environment = Environment {
            variables: BTreeMap::from([("API_KEY".to_owned(), "hunter2".to_owned())]),
            home: None,
            current_dir: PathBuf::from("/here"),
        };
        let text = format!("{environment:?}");
        assert!(text.contains("API_KEY") && !text.contains("hunter2"), "{text}");
    }
}
