//! A whole file of JSON with comments as a plain value, for files other than the configuration.

use std::path::Path;

use serde_json::Value;

use crate::document;
use crate::error::ConfigError;

/// The value that the text of a file stands for. Nothing may be given twice, and there is something.
pub fn json_value(file: &Path, text: &str) -> Result<Value, ConfigError> {
    let node = document::parse(text)
        .map_err(|wrong| ConfigError::new(file, wrong.message).at(wrong.at).hint(wrong.hint))?
        .ok_or_else(|| ConfigError::new(file, "the file is empty"))?;
    if let Some((path, at)) = node.find_duplicate() {
        return Err(ConfigError::new(file, format!("`{path}` is given twice")).at(at));
    }
    serde_json::from_str(&node.to_compact_json())
        .map_err(|error| ConfigError::new(file, format!("the file cannot be read: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_fine_and_doubts_are_not() {
        let file = Path::new("hooks.json");
        for (text, expected) in [
            ("{\"a\": [1, /* b */ 2.50,],}", Ok(r#"{"a":[1,2.5]}"#)),
            ("", Err("the file is empty (hooks.json)")),
            ("{\"a\": {\"b\": 1,\n\"b\": 2}}", Err("`a.b` is given twice (hooks.json:2:1)")),
            ("{\"a\":", Err("expected value after colon in object property (hooks.json:1:6)")),
        ] {
            let read = json_value(file, text);
            let read = read.map(|value| value.to_string()).map_err(|error| error.to_string());
            assert_eq!(read, expected.map(str::to_owned).map_err(str::to_owned), "{text}");
        }
    }
}
