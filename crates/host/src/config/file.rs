//! One file: its text, and the parts it has: servers and settings.

use std::fs;
use std::io::{ErrorKind, Read as _};
use std::path::Path;
use std::sync::Arc;

use crate::config::document::{self, Member, Node, Position, Value, duplicate_member};
use crate::config::error::ConfigError;
use crate::config::similar::suggestion;
use crate::config::visible_text::shown;

/// The longest file that is read, in bytes.
pub(super) const LONGEST: u64 = 4 * 1024 * 1024;

/// The names at the top of a file.
const TOP_KEYS: &[&str] = &["mcpServers", "models", "settings"];

/// The parts of a file.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// In the order of the file; a name may appear twice.
    pub(super) servers: Vec<Member>,
    pub(super) settings: Option<Node>,
    pub(super) models: Option<Node>,
    pub(super) warnings: Vec<ConfigError>,
}

/// The text of a file without byte order mark; `None` if there is no such file.
///
/// Only regular files are opened: a pipe or a device that a project points to would never end.
pub(crate) fn read_text(path: &Path) -> Result<Option<String>, ConfigError> {
    read_text_within(path, LONGEST)
}

/// The same with another limit, in bytes.
pub(super) fn read_text_within(path: &Path, longest: u64) -> Result<Option<String>, ConfigError> {
    let error = |message: String| ConfigError::new(path, message);
    let unreadable = |cause: std::io::Error| error(format!("the file cannot be read: {cause}"));
    let metadata = match fs::metadata(path) {
        // What somebody put there as a link is meant to be there: a share may be away.
        Err(cause) if cause.kind() == ErrorKind::NotFound => {
            return match broken_link(path) {
                None => Ok(None),
                Some(link) => {
                    let link = shown(&link);
                    let error = error(format!("the file cannot be read: `{link}` leads nowhere"));
                    Err(error.hint("put back what the link leads to, or remove the link"))
                }
            };
        }
        metadata => metadata.map_err(unreadable)?,
    };
    if !metadata.is_file() {
        return Err(
            error("the file is not a regular file".to_owned()).hint("name a file with text")
        );
    }
    let mut bytes = Vec::new();
    match fs::File::open(path) {
        // It was replaced by nothing since it was looked at.
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(None),
        file => file.map_err(unreadable)?.take(longest + 1).read_to_end(&mut bytes),
    }
    .map_err(unreadable)?;
    if bytes.len() as u64 > longest {
        return Err(error(format!("the file is longer than {} MiB", longest / 1024 / 1024)));
    }
    let text = String::from_utf8(bytes).map_err(|cause| {
        let valid = cause.as_bytes().iter().take(cause.utf8_error().valid_up_to());
        let line = 1 + valid.filter(|byte| **byte == b'\n').count();
        error("the file is not UTF-8 text".to_owned())
            .at(Position { line, column: 1 })
            .hint("save the file as UTF-8")
    })?;
    Ok(Some(without_mark(&text).to_owned()))
}

/// The file, or the folder it is in, if that is a link to nothing.
fn broken_link(path: &Path) -> Option<String> {
    let places = [Some(path), path.parent()].into_iter().flatten();
    let is_link = |place: &&Path| fs::symlink_metadata(place).is_ok_and(|it| it.is_symlink());
    let broken = places.filter(is_link).find(|place| fs::metadata(place).is_err())?;
    Some(broken.display().to_string())
}

/// `text` without a byte order mark at its start.
pub(super) fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Finds the parts of a file in its text. Entries are not looked into, so that one that is wrong
/// does not hide the others.
pub(super) fn parts(file: &Arc<Path>, text: &str) -> Result<Parts, ConfigError> {
    let error = |at, message: String| ConfigError::new(Arc::clone(file), message).at(at);
    let root = document::parse(text)
        .map_err(|syntax| error(syntax.at, syntax.message).hint(syntax.hint))?;
    let Some(root) = root else { return Ok(Parts::default()) };
    let kind = root.kind();
    let Value::Object(members) = root.value else {
        return Err(error(root.at, format!("the file must be an object, not {kind}"))
            .hint("an empty configuration is `{}`"));
    };
    if let Some(second) = duplicate_member(&members) {
        let message = format!("`{}` is given twice", shown(&second.name));
        let error = error(second.at, message).key(second.name.as_str());
        return Err(error.hint("put the two together"));
    }
    let mut parts = Parts::default();
    for member in members {
        match member.name.as_str() {
            "mcpServers" => parts.servers = servers(file, member.value)?,
            "models" => parts.models = Some(member.value).filter(|node| !node.is_null()),
            "settings" => parts.settings = Some(member.value).filter(|node| !node.is_null()),
            name => parts.warnings.extend(suggestion(name, TOP_KEYS).map(|meant| {
                error(member.at, format!("`{}` is not known", shown(name)))
                    .key(name)
                    .hint(format!("did you mean `{meant}`?"))
                    .warning()
            })),
        }
    }
    Ok(parts)
}

fn servers(file: &Arc<Path>, node: Node) -> Result<Vec<Member>, ConfigError> {
    let kind = node.kind();
    match node.value {
        Value::Null => Ok(Vec::new()),
        Value::Object(members) => Ok(members),
        _ => {
            let message = format!("`mcpServers` must be an object, not {kind}");
            Err(ConfigError::new(Arc::clone(file), message)
                .at(node.at)
                .key("mcpServers")
                .hint("write `\"mcpServers\": { \"name\": { \"command\": ... } }`"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8]) -> Result<(Vec<String>, bool), String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.json");
        fs::write(&path, bytes).unwrap();
        let file: Arc<Path> = Path::new("config.json").into();
        let text = read_text(&path).map_err(|error| error.message.to_string())?.unwrap();
        let parts = parts(&file, &text).map_err(|error| error.to_string())?;
        let names = parts.servers.into_iter().map(|member| member.name).collect();
        Ok((names, parts.settings.is_some()))
    }

    #[test]
    fn empty_files_have_no_servers() {
        for text in ["", "\u{feff}", " \n// nothing yet\n", "{}", "{\"mcpServers\": null}"] {
            assert_eq!(check(text.as_bytes()), Ok((vec![], false)), "{text:?}");
        }
    }

    #[test]
    fn comments_trailing_commas_and_a_byte_order_mark_are_fine() {
        let text =
            "\u{feff}{ // a\n\"mcpServers\": {\"x\": {}, /* b */ \"y\": 3,}, \"settings\": {},}";
        assert_eq!(check(text.as_bytes()), Ok((vec!["x".to_owned(), "y".to_owned()], true)));
    }

    #[test]
    fn what_is_wrong_with_a_whole_file_has_a_place() {
        let cases: [(&[u8], &str); 7] = [
            (b"{\n  \"mcpServers\": {\n", "unterminated object (config.json:2:17)"),
            (b"{\"a\": 1\n  \"b\": 2}", "expected comma (config.json:1:8)"),
            (b"{'a': 1}", "single-quoted strings are not allowed (config.json:1:2)"),
            (b"[]", "the file must be an object, not a list (config.json:1:1)"),
            (
                b"{\n\"mcpServers\": []}",
                "`mcpServers` must be an object, not a list (config.json:2)",
            ),
            (
                b"{\"mcpServers\": {},\n\"mcpServers\": {}}",
                "`mcpServers` is given twice (config.json:2)",
            ),
            (b"{\xff\xfe}", "the file is not UTF-8 text"),
        ];
        for (bytes, message) in cases {
            assert_eq!(check(bytes), Err(message.to_owned()));
        }
    }

    #[test]
    fn a_missing_file_is_no_error_and_a_folder_is() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read_text(&folder.path().join("none")), Ok(None));
        let error = read_text(folder.path()).unwrap_err();
        assert_eq!(&*error.message, "the file is not a regular file");
    }

    #[test]
    fn a_file_without_end_is_not_read_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("long");
        fs::write(&path, vec![b' '; LONGEST as usize + 1]).unwrap();
        assert_eq!(&*read_text(&path).unwrap_err().message, "the file is longer than 4 MiB");
    }
}
