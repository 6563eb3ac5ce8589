//! Splits one configuration file into its sections: servers, models and settings.

use std::path::Path;
use std::sync::Arc;

use switchboard_document::{ConfigError, Member, Node, NodeValue, duplicate_member};
use switchboard_text::{sanitize, suggestion};

const TOP_KEYS: &[&str] = &["mcpServers", "models", "settings"];

#[derive(Debug, Default)]
pub(crate) struct ConfigSections {
    /// The entries in file order, including duplicates.
    pub(crate) servers: Vec<Member>,
    pub(crate) settings: Option<Node>,
    pub(crate) models: Option<Node>,
    pub(crate) warnings: Vec<ConfigError>,
}

/// Finds the sections of a file in its text. Entries are not validated here.
pub(crate) fn parse_sections(file: &Arc<Path>, text: &str) -> Result<ConfigSections, ConfigError> {
    let error = |at, message: String| ConfigError::new(Arc::clone(file), message).at(at);
    let root = switchboard_document::parse(text)
        .map_err(|syntax| error(syntax.at, syntax.message).hint(syntax.hint))?;
    let Some(root) = root else { return Ok(ConfigSections::default()) };
    let kind = root.kind();
    let NodeValue::Object(members) = root.value else {
        return Err(error(root.at, format!("the file must be an object, not {kind}"))
            .hint("an empty configuration is `{}`"));
    };
    if let Some(second) = duplicate_member(&members) {
        let message = format!("`{}` is given twice", sanitize(&second.name));
        let error = error(second.at, message).key(second.name.as_str());
        return Err(error.hint("merge the two into one"));
    }
    let mut parts = ConfigSections::default();
    for member in members {
        match member.name.as_str() {
            "mcpServers" => parts.servers = servers(file, member.value)?,
            "models" => parts.models = Some(member.value).filter(|node| !node.is_null()),
            "settings" => parts.settings = Some(member.value).filter(|node| !node.is_null()),
            // Other products may keep their own settings in the file, so only typos are reported.
            name => parts.warnings.extend(suggestion(name, TOP_KEYS).map(|meant| {
                error(member.at, format!("`{}` is not known", sanitize(name)))
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
        NodeValue::Null => Ok(Vec::new()),
        NodeValue::Object(members) => Ok(members),
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
    use std::fs;

    use switchboard_document::read_text;

    use super::*;

    fn check(bytes: &[u8]) -> Result<(Vec<String>, bool), String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.json");
        fs::write(&path, bytes).unwrap();
        let file: Arc<Path> = Path::new("config.json").into();
        let text = read_text(&path).map_err(|error| error.message.to_string())?.unwrap();
        let parts = parse_sections(&file, &text).map_err(|error| error.to_string())?;
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
}
