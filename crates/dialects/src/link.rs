//! Install links of Cursor and VS Code: parsing and generation.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::{Map, Value};

use crate::dialect::ProductDialect;
use crate::entry::ServerEntry;
use crate::note::Note;

/// Characters to percent-encode: all but the unreserved ones.
const ENCODE_SET: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

const MAX_LINK_BYTES: usize = 64 * 1_024;

const CURSOR: &str = "cursor://anysphere.cursor-deeplink/mcp/install?";
const CURSOR_WEB: &[&str] =
    &["https://cursor.com/link/mcp/install?", "https://cursor.com/en/install-mcp?"];
const VSCODE: &str = "vscode:mcp/install?";
const VSCODE_OTHERS: &[&str] = &["vscode-insiders:mcp/install?", "vscode://mcp/install?"];
const VSCODE_WEB: &[&str] = &[
    "https://vscode.dev/redirect/mcp/install?",
    "https://insiders.vscode.dev/redirect/mcp/install?",
];

/// Generators of links disagree about padding.
const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);

/// Why a link cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    #[error("it is not an install link of Cursor or VS Code")]
    Unknown,
    #[error("it has no `{0}`")]
    Missing(&'static str),
    #[error("its `{0}` is invalid")]
    Garbled(&'static str),
    #[error("its server {0}")]
    NoServer(String),
    #[error("it is longer than {MAX_LINK_BYTES} bytes")]
    TooLong,
}

/// Returns whether a text looks like an install link.
pub fn is_link(text: &str) -> bool {
    let web = CURSOR_WEB.iter().chain(VSCODE_WEB).chain(VSCODE_OTHERS);
    [CURSOR, VSCODE].iter().chain(web).any(|start| text.starts_with(start))
}

/// Returns the product of a link, the server that it installs, and notes about lost settings.
pub fn read_link(link: &str) -> Result<(ProductDialect, ServerEntry, Vec<Note>), LinkError> {
    let link = link.trim();
    if link.len() > MAX_LINK_BYTES {
        return Err(LinkError::TooLong);
    }
    let after = |starts: &[&str]| starts.iter().find_map(|start| link.strip_prefix(start));
    if let Some(query) = link.strip_prefix(CURSOR).or_else(|| after(CURSOR_WEB)) {
        return cursor(query);
    }
    if let Some(query) = link.strip_prefix(VSCODE).or_else(|| after(VSCODE_OTHERS)) {
        let text = percent_decode(query).ok_or(LinkError::Garbled("JSON"))?;
        return vscode(object(&text, "JSON")?, None);
    }
    let query = after(VSCODE_WEB).ok_or(LinkError::Unknown)?;
    let name = parameter(query, "name")?;
    let mut config = object(&parameter(query, "config")?, "config")?;
    // Inputs are optional, but their secrets would be lost without them.
    if let Ok(inputs) = parameter(query, "inputs") {
        let inputs = serde_json::from_str(&inputs).map_err(|_| LinkError::Garbled("inputs"))?;
        config.insert("inputs".to_owned(), inputs);
    }
    vscode(config, Some(name))
}

/// Returns a link that installs a server in Cursor; `None` if Cursor does not support the server.
pub fn cursor_link(entry: &ServerEntry) -> (Option<String>, Vec<Note>) {
    let (members, notes) = ProductDialect::Cursor.write_alone(entry);
    let link = members.map(|members| {
        let config = Value::Object(members.into_iter().collect()).to_string();
        let config = base64::engine::general_purpose::STANDARD.encode(config);
        format!("{CURSOR}name={}&config={}", percent_encode(&entry.name), percent_encode(&config))
    });
    (link, notes)
}

/// Returns a link that installs a server in VS Code; `None` if VS Code does not support the server.
pub fn vscode_link(entry: &ServerEntry) -> (Option<String>, Vec<Note>) {
    let (members, notes) = ProductDialect::Vscode.write_alone(entry);
    let link = members.map(|members| {
        let mut config: Map<String, Value> = members.into_iter().collect();
        config.insert("name".to_owned(), Value::String(entry.name.clone()));
        let inputs = ProductDialect::Vscode.outside_lists(entry);
        if !inputs.is_empty() {
            config.insert("inputs".to_owned(), Value::Array(inputs));
        }
        format!("{VSCODE}{}", percent_encode(&Value::Object(config).to_string()))
    });
    (link, notes)
}

fn cursor(query: &str) -> Result<(ProductDialect, ServerEntry, Vec<Note>), LinkError> {
    let name = parameter(query, "name")?;
    let config = parameter(query, "config")?;
    let garbled = || LinkError::Garbled("config");
    // An unencoded `+` was decoded as a space.
    let config = config.replace(' ', "+");
    let standard = GeneralPurpose::new(&alphabet::STANDARD, LENIENT).decode(&config);
    let bytes = standard
        // Some generators use the alphabet for URLs.
        .or_else(|_| GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT).decode(&config))
        .map_err(|_| garbled())?;
    let text = String::from_utf8(bytes).map_err(|_| garbled())?;
    let mut config = object(&text, "config")?;
    // Some tools nest the entry under its name, as in files.
    if let (1, Some(Value::Object(inner))) = (config.len(), config.get(&name).cloned()) {
        config = inner;
    }
    entry(ProductDialect::Cursor, &name, config)
}

fn vscode(
    mut config: Map<String, Value>,
    name: Option<String>,
) -> Result<(ProductDialect, ServerEntry, Vec<Note>), LinkError> {
    let inside = match config.remove("name") {
        Some(Value::String(inside)) => Some(inside),
        _ => None,
    };
    let name = name.or(inside).ok_or(LinkError::Missing("name"))?;
    // The origin of the link, without effect on the server.
    config.remove("gallery");
    entry(ProductDialect::Vscode, &name, config)
}

fn entry(
    dialect: ProductDialect,
    name: &str,
    config: Map<String, Value>,
) -> Result<(ProductDialect, ServerEntry, Vec<Note>), LinkError> {
    let read = dialect.read_alone(name, &Value::Object(config));
    let (entry, notes) = read.map_err(LinkError::NoServer)?;
    Ok((dialect, entry, notes))
}

fn object(text: &str, what: &'static str) -> Result<Map<String, Value>, LinkError> {
    serde_json::from_str(text).map_err(|_| LinkError::Garbled(what))
}

fn parameter(query: &str, name: &'static str) -> Result<String, LinkError> {
    // A fragment is not part of the query.
    let pairs = query.split('#').next().unwrap_or_default().split('&');
    let found = pairs.filter_map(|pair| pair.split_once('=')).find(|(key, _)| *key == name);
    let (_, value) = found.ok_or(LinkError::Missing(name))?;
    percent_decode(&value.replace('+', " ")).ok_or(LinkError::Garbled(name))
}

fn percent_decode(text: &str) -> Option<String> {
    percent_decode_str(text).decode_utf8().ok().map(std::borrow::Cow::into_owned)
}

fn percent_encode(text: &str) -> String {
    utf8_percent_encode(text, ENCODE_SET).to_string()
}

#[cfg(test)]
#[path = "link_tests.rs"]
mod tests;
