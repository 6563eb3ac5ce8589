//! Words and shapes that tell what a tool does and what its arguments are.

use switchboard_text::characters::mixed_script_reading;

/// What the name of a tool says that it does, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    /// It runs programs.
    Run,
    /// It destroys something.
    Destroy,
    /// Something leaves, or somebody else is concerned.
    Send,
    /// It changes something.
    Write,
}

const VERBS: [(Verb, &[&str]); 4] = [
    (Verb::Run, &["exec", "execute", "run", "shell", "eval", "command", "spawn", "sudo", "bash"]),
    (
        Verb::Destroy,
        &[
            "delete",
            "remove",
            "drop",
            "destroy",
            "purge",
            "kill",
            "wipe",
            "truncate",
            "revoke",
            "reset",
            "overwrite",
            "erase",
            "clear",
            "unlink",
            "rm",
            "terminate",
        ],
    ),
    (
        Verb::Send,
        &[
            "send", "post", "publish", "pay", "transfer", "buy", "order", "email", "mail", "share",
            "invite", "grant", "merge", "deploy", "push", "release", "approve", "upload",
        ],
    ),
    (
        Verb::Write,
        &[
            "write", "create", "update", "set", "put", "edit", "insert", "add", "move", "rename",
            "patch", "append", "save", "modify", "replace", "commit", "close",
        ],
    ),
];

/// What a name says, and by which word.
pub(crate) fn find_verb(name: &str) -> Option<(Verb, &'static str)> {
    let words = split_words(name);
    VERBS.iter().find_map(|(verb, known)| {
        let found = known.iter().find(|known| words.iter().any(|word| word == **known))?;
        Some((*verb, *found))
    })
}

/// The words of a name: `deleteRepo`, `delete_repo` and `delete-repo` have the same two.
fn split_words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before_is_lower = false;
    for character in name.chars() {
        let begins = character.is_uppercase() && before_is_lower;
        before_is_lower = character.is_lowercase() || character.is_numeric();
        if begins || !character.is_alphanumeric() {
            words.push(String::new());
        }
        if character.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(character.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

const SECRET_NAMES: [&str; 7] =
    ["password", "passwd", "secret", "token", "apikey", "credential", "privatekey"];
const SECRET_STARTS: [&str; 9] =
    ["sk-", "ghp_", "github_pat_", "gho_", "xoxb-", "xoxp-", "AKIA", "eyJ", "-----BEGIN"];
const COMMAND_NAMES: [&str; 6] = ["command", "cmd", "script", "code", "sql", "shell"];
const SENSITIVE_PATHS: [&str; 8] =
    ["/etc/", "/.ssh", "/.aws", "/.gnupg", "/.config/", "/proc/", "/root", ".env"];

/// What an argument looks like, with its weight.
pub(crate) fn inspect_argument(name: &str, text: &str) -> Vec<(i32, String)> {
    let mut looks = Vec::new();
    let plain: String = name.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
    let begins = SECRET_STARTS.iter().any(|start| text.starts_with(start)) && text.len() >= 12;
    if begins || !text.is_empty() && SECRET_NAMES.iter().any(|secret| plain.contains(secret)) {
        looks.push((20, format!("`{name}` looks like a secret")));
    }
    let is_shell =
        ["$(", "`", "&&", "| ", "; ", "rm -", "sudo "].iter().any(|part| text.contains(part));
    if COMMAND_NAMES.contains(&plain.as_str()) || is_shell {
        looks.push((15, format!("`{name}` looks like a command")));
    }
    if let Some(taken) = mixed_script_reading(text) {
        looks.push((15, format!("`{name}` can be taken for `{taken}`: it mixes two alphabets")));
    }
    if text.contains("://") {
        looks.push((10, format!("`{name}` holds an address")));
    } else if text.starts_with(['/', '~']) || text.contains("../") || text.contains('\\') {
        let is_tender =
            text.contains("..") || SENSITIVE_PATHS.iter().any(|tender| text.contains(tender));
        let weight = if is_tender { 20 } else { 5 };
        looks.push((weight, format!("`{name}` looks like a path")));
    }
    looks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_what_it_does_in_any_spelling() {
        for (name, expected) in [
            ("delete_repo", Some((Verb::Destroy, "delete"))),
            ("deleteRepo", Some((Verb::Destroy, "delete"))),
            ("Delete-Repo", Some((Verb::Destroy, "delete"))),
            ("run_and_delete", Some((Verb::Run, "run"))),
            ("read_and_delete", Some((Verb::Destroy, "delete"))),
            ("send.mail", Some((Verb::Send, "send"))),
            ("setTitle", Some((Verb::Write, "set"))),
            ("settings", None),
            ("get_issue", None),
            ("", None),
        ] {
            assert_eq!(find_verb(name), expected, "{name}");
        }
    }
}
