//! Expansion of `${...}` in texts: environment variables, secrets, folders and separators.

use std::collections::BTreeSet;
use std::path::{MAIN_SEPARATOR_STR, Path};

use switchboard_document::{Node, NodeValue};
use switchboard_text::sanitize;

use crate::environment::Environment;
use crate::secret_reference;

const MAX_DEPTH: usize = 8;

/// The values that texts may refer to.
pub(crate) struct Variables<'a> {
    pub(crate) environment: &'a Environment,
    /// The value of `${workspaceFolder}`.
    pub(crate) workspace: &'a Path,
    pub(crate) unset: IfUnset,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum IfUnset {
    Refuse,
    /// Keeps the reference, to check an entry that is used in another environment.
    Keep,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum VariableError {
    #[error("variable `{}` is not set", sanitize(.0))]
    Unset(String),
    #[error("`${{{}}}` is not a variable", sanitize(.0))]
    Unknown(String),
    #[error("`${{` has no closing `}}`")]
    Open,
    #[error("`${{userHome}}` is not known")]
    NoHome,
    #[error("`${{{0}}}` is not Unicode text")]
    NotText(&'static str),
}

impl VariableError {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::Unset(name) => {
                let name = sanitize(name);
                format!("set it in the environment, or give a default: `${{{name}:-default}}`")
            }
            Self::Unknown(_) => "use `${NAME}`, `${NAME:-default}`, `${env:NAME}`, \
                `${keyring:NAME}`, `${userHome}`, `${workspaceFolder}`, `${workspaceFolderBasename}`, \
                `${pathSeparator}` or `${/}`; write `$${` for a plain `${`"
                .to_owned(),
            Self::Open => "write `$${` for a plain `${`".to_owned(),
            Self::NoHome => {
                format!("set `{}`", if cfg!(windows) { "USERPROFILE" } else { "HOME" })
            }
            Self::NotText(_) => "use a folder with a plain name".to_owned(),
        }
    }
}

impl Variables<'_> {
    /// Replaces every variable in `text`; a default may contain variables too.
    pub(crate) fn expand(&self, text: &str) -> Result<String, VariableError> {
        // Values are not expanded again: the environment must not be able to name other variables.
        self.expand_within(text, MAX_DEPTH)
    }

    fn expand_within(&self, text: &str, depth: usize) -> Result<String, VariableError> {
        let mut expanded = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            // `$${` is an escaped `${`.
            if let Some(plain) = before.strip_suffix('$') {
                expanded.push_str(plain);
                expanded.push_str("${");
                rest = after;
                continue;
            }
            expanded.push_str(before);
            let (reference, after) = split_reference(after).ok_or(VariableError::Open)?;
            match self.value(reference, depth) {
                Err(VariableError::Unset(_)) if self.unset == IfUnset::Keep => {
                    expanded.push_str("${");
                    expanded.push_str(reference);
                    expanded.push('}');
                }
                value => expanded.push_str(&value?),
            }
            rest = after;
        }
        expanded.push_str(rest);
        Ok(expanded)
    }

    fn value(&self, reference: &str, depth: usize) -> Result<String, VariableError> {
        let workspace = |name| self.workspace.to_str().ok_or(VariableError::NotText(name));
        match reference {
            "userHome" => {
                let home = self.environment.home.as_deref().ok_or(VariableError::NoHome)?;
                home.to_str().map(str::to_owned).ok_or(VariableError::NotText("userHome"))
            }
            "workspaceFolder" => workspace("workspaceFolder").map(str::to_owned),
            "workspaceFolderBasename" => workspace("workspaceFolderBasename")
                .map(|folder| Path::new(folder).file_name().unwrap_or_default())
                .map(|name| name.to_string_lossy().into_owned()),
            "pathSeparator" | "/" => Ok(MAIN_SEPARATOR_STR.to_owned()),
            // Only a reference, not the value: the secret is read when the server starts.
            _ if is_secret(reference) => match secret_name(reference) {
                Some(name) => Ok(secret_reference::reference(name)),
                None => Err(VariableError::Unknown(reference.to_owned())),
            },
            _ => self.environment_value(reference, depth),
        }
    }

    fn environment_value(&self, reference: &str, depth: usize) -> Result<String, VariableError> {
        let unknown = || VariableError::Unknown(reference.to_owned());
        let (name, default) = match reference.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (reference, None),
        };
        let name = match name.strip_prefix("env:") {
            Some(name) => Some(name.trim()).filter(|name| !name.is_empty()),
            None => Some(name).filter(|name| is_name(name)),
        };
        let name = name.ok_or_else(unknown)?;
        match (self.environment.variable(name), default) {
            // As in a shell, `:-` also replaces an empty value.
            (None | Some(""), Some(default)) => {
                self.expand_within(default, depth.checked_sub(1).ok_or_else(unknown)?)
            }
            (Some(value), _) => Ok(value.to_owned()),
            (None, None) => Err(VariableError::Unset(name.to_owned())),
        }
    }
}

/// Splits the text after `${` at the matching `}`.
fn split_reference(text: &str) -> Option<(&str, &str)> {
    let mut open = 0_usize;
    let mut before = ' ';
    for (index, character) in text.char_indices() {
        match (before, character, open) {
            ('$', '{', _) => open += 1,
            (_, '}', 0) => return Some((text.get(..index)?, text.get(index + 1..)?)),
            (_, '}', _) => open -= 1,
            _ => {}
        }
        before = character;
    }
    None
}

/// Returns the names of the environment variables that the texts of an entry refer to.
pub(crate) fn referenced_variables(node: &Node) -> BTreeSet<String> {
    match &node.value {
        NodeValue::Text(text) => references_in(text).collect(),
        NodeValue::List(items) => items.iter().flat_map(referenced_variables).collect(),
        NodeValue::Object(members) => {
            members.iter().flat_map(|member| referenced_variables(&member.value)).collect()
        }
        NodeValue::Null | NodeValue::Bool(_) | NodeValue::Number(_) => BTreeSet::new(),
    }
}

fn references_in(text: &str) -> impl Iterator<Item = String> {
    // Splitting at every `${` also finds references inside defaults.
    let mut begun = text.split("${");
    // A part after `$${` is literal text.
    let mut is_plain = begun.next().is_none_or(|before| before.ends_with('$'));
    begun.filter_map(move |part| {
        let was_plain = std::mem::replace(&mut is_plain, part.ends_with('$'));
        let reference = part.split_once('}').map_or(part, |(reference, _)| reference);
        let reference = Some(reference).filter(|_| !was_plain)?;
        let name = reference.split_once(":-").map_or(reference, |(name, _)| name);
        let name = name.strip_prefix("env:").map(str::trim).unwrap_or(name);
        let is_folder = matches!(name, "userHome" | "workspaceFolder" | "pathSeparator");
        let is_own = is_folder || name == "workspaceFolderBasename";
        (is_name(name) && !is_own).then(|| name.to_owned())
    })
}

fn is_secret(reference: &str) -> bool {
    reference.starts_with("keyring:") || reference.starts_with("secret:")
}

fn secret_name(reference: &str) -> Option<&str> {
    let (_, name) = reference.split_once(':')?;
    Some(name.trim()).filter(|name| is_name(name))
}

fn is_name(text: &str) -> bool {
    let letter = |character: char| character.is_ascii_alphabetic() || character == '_';
    text.chars().next().is_some_and(letter)
        && text.chars().all(|character| letter(character) || character.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment() -> Environment {
        let variables = [("TOKEN", "s3cret"), ("EMPTY", ""), ("NESTED", "${TOKEN}")];
        Environment {
            variables: variables.map(|(n, v)| (n.to_owned(), v.to_owned())).into(),
            home: Some("/homes/me".into()),
            current_dir: "/here".into(),
        }
    }

    fn expand(text: &str, unset: IfUnset) -> Result<String, VariableError> {
        let workspace = Path::new("/code/thing");
        Variables { environment: &environment(), workspace, unset }.expand(text)
    }

    #[test]
    fn every_form_is_replaced() {
        let cases = [
            ("plain $TOKEN $", "plain $TOKEN $"),
            ("Bearer ${TOKEN}!", "Bearer s3cret!"),
            ("${env:TOKEN}${env: TOKEN }", "s3crets3cret"),
            ("[${EMPTY}]", "[]"),
            ("${EMPTY:-x}${MISSING:-}${MISSING:-a:-b}${env:MISSING:-y}", "xa:-by"),
            ("${userHome}/x", "/homes/me/x"),
            ("${workspaceFolder}|${workspaceFolderBasename}", "/code/thing|thing"),
            ("$${TOKEN} $$", "${TOKEN} $$"),
            ("${NESTED}", "${TOKEN}"),
            ("${MISSING:-${TOKEN}}!", "s3cret!"),
            ("${MISSING:-<${ALSO:-${userHome}}/x>}.", "</homes/me/x>."),
            ("${TOKEN:-${MISSING}}", "s3cret"),
            ("${MISSING:-{}}", "{}"),
            ("${MISSING:-$${TOKEN}}", "${TOKEN}"),
        ];
        for (text, expected) in cases {
            assert_eq!(expand(text, IfUnset::Refuse).as_deref(), Ok(expected), "{text}");
        }
        assert_eq!(
            expand("${/}${pathSeparator}", IfUnset::Refuse).unwrap(),
            MAIN_SEPARATOR_STR.repeat(2)
        );
    }

    #[test]
    fn what_an_entry_takes_of_the_environment_is_known_by_name() {
        let entry = r#"{"url": "https://x/?k=${env:TOKEN}&b=${OTHER:-1}", "args": ["$${PLAIN}",
            "${userHome}${workspaceFolder}", "${keyring:K}", "${Q:-a${DEEP:-${DEEPER}}}"],
            "env": {"A": "${env: SPACED }${Z}"}}"#;
        let entry = switchboard_document::parse(entry).ok().flatten().unwrap();
        let names: Vec<String> = referenced_variables(&entry).into_iter().collect();
        assert_eq!(names, ["DEEP", "DEEPER", "OTHER", "Q", "SPACED", "TOKEN", "Z"]);
    }

    #[test]
    fn what_cannot_be_replaced_is_refused() {
        let cases = [
            ("${MISSING}", VariableError::Unset("MISSING".to_owned())),
            ("${env:MISSING}", VariableError::Unset("MISSING".to_owned())),
            ("${input:key}", VariableError::Unknown("input:key".to_owned())),
            ("${}", VariableError::Unknown(String::new())),
            ("${env:}", VariableError::Unknown("env:".to_owned())),
            ("$(touch x) ${a b}", VariableError::Unknown("a b".to_owned())),
            ("a${TOKEN", VariableError::Open),
            ("${MISSING:-${ALSO}}", VariableError::Unset("ALSO".to_owned())),
            ("${MISSING:-${ALSO}", VariableError::Open),
        ];
        for (text, expected) in cases {
            assert_eq!(expand(text, IfUnset::Refuse), Err(expected), "{text}");
        }
    }

    #[test]
    fn defaults_inside_of_defaults_have_an_end() {
        let deep = |levels| format!("{}x{}", "${A:-".repeat(levels), "}".repeat(levels));
        assert_eq!(expand(&deep(MAX_DEPTH), IfUnset::Refuse).as_deref(), Ok("x"));
        let refused = expand(&deep(100_000), IfUnset::Refuse);
        assert!(matches!(refused, Err(VariableError::Unknown(_))), "{refused:?}");
    }

    #[test]
    fn an_unset_variable_can_be_kept() {
        assert_eq!(expand("a${MISSING}b${TOKEN}", IfUnset::Keep).unwrap(), "a${MISSING}bs3cret");
    }
}
