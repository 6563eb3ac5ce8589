//! Every string of a definition, in keys and values, with the place where it stands.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use switchboard_text::characters::is_other_spelling;

use crate::finding::{Finding, Sign};
use crate::header_secrets::secret_headers;
use crate::judge::Found;

/// What a definition describes.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "DefinitionKind")]
pub enum Kind {
    /// A tool.
    Tool,
    /// A resource.
    Resource,
    /// A resource template.
    Template,
    /// A prompt.
    Prompt,
    /// What a server tells of itself.
    Instructions,
}

impl Kind {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Resource => "resource",
            Self::Template => "resource template",
            Self::Prompt => "prompt",
            Self::Instructions => "instructions",
        }
    }
}

/// What the JSON text of a definition tries.
///
/// A text that is no JSON is looked at as it stands.
#[must_use]
pub fn scan_definition(kind: Kind, raw: &str) -> Vec<Finding> {
    let mut walk = Walk { kind, found: Found::default(), path: Vec::new(), short: String::new() };
    let mut reader = serde_json::Deserializer::from_str(raw);
    if Strings(&mut walk).deserialize(&mut reader).is_err() {
        walk.found.text(&String::new, raw);
    }
    walk.found.apart(&walk.short);
    if kind == Kind::Tool && raw.contains("x-mcp-header") {
        for (place, name) in secret_headers(raw) {
            walk.found.add(Sign::new("secret_in_header", 6, 0), &place, &name);
        }
    }
    walk.found.findings()
}

struct Walk {
    kind: Kind,
    found: Found,
    path: Vec<Step>,
    /// All short strings one after the other: an order may be cut into pieces.
    short: String,
}

/// Longer strings say something by themselves.
const SHORT: usize = 48;
/// So much of the short strings is looked at.
const LONGEST: usize = 64 * 1024;
/// Words of schemas, which stand between all others.
const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "object", "array", "null"];

enum Step {
    Key(String),
    Number(usize),
}

impl Walk {
    fn text(&mut self, text: &str) {
        let Self { kind, found, path, short } = self;
        if text.len() <= SHORT && short.len() < LONGEST && !TYPES.contains(&text) {
            short.push_str(text);
            short.push(' ');
        }
        found.text(&|| pointer(path), text);
        let is_called_by = matches!(kind, Kind::Tool | Kind::Prompt);
        if let [Step::Key(key)] = path.as_slice()
            && key == "name"
            && is_called_by
            && let Some(at) = text.find(is_other_spelling)
        {
            // Rules and people know the same name in its usual spelling.
            found.add(Sign::new("odd_spelling", 6, at), "/name", text);
        }
    }

    /// The key that was read last is text as well.
    fn key(&mut self) {
        let Self { found, path, .. } = self;
        if let Some(Step::Key(key)) = path.last() {
            found.text(&|| pointer(path), key);
        }
    }
}

fn pointer(path: &[Step]) -> String {
    path.iter().fold(String::new(), |pointer, step| match step {
        Step::Key(key) => format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1")),
        Step::Number(number) => format!("{pointer}/{number}"),
    })
}

/// Reads a value of any shape and looks at its strings; a key that is given twice is read twice.
struct Strings<'a>(&'a mut Walk);

impl<'de> DeserializeSeed<'de> for Strings<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strings<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON")
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.0.text(text);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(key) = members.next_key::<String>()? {
            self.0.path.push(Step::Key(key));
            self.0.key();
            members.next_value_seed(Strings(self.0))?;
            self.0.path.pop();
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<(), A::Error> {
        for number in 0.. {
            self.0.path.push(Step::Number(number));
            let more = values.next_element_seed(Strings(self.0))?;
            self.0.path.pop();
            if more.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}
