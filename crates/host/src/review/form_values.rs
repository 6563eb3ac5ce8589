//! Values of a form: parsed from typed text, and checked per field and as a whole.

use serde_json::{Map, Value, json};
use switchboard_catalog::{ArgumentProblem, BadArguments};
use switchboard_text::excerpt_text;

use crate::review::form::{Choice, Field, FieldKind, Form, NumberKind, TextFormat};

/// A problem with one field, or with the form as a whole.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{words}")]
pub struct FieldProblem {
    /// The field, or `None` for the form as a whole.
    pub field: Option<String>,
    /// The problem, escaped for display.
    pub words: String,
}

impl Form {
    /// Checks the content against the schema that the server sent, and returns all problems.
    pub fn check(&self, content: &Map<String, Value>) -> Result<(), Vec<FieldProblem>> {
        let mut problems = Vec::new();
        for (name, value) in content {
            let field = self.fields.iter().find(|field| field.name == *name);
            let words = match field {
                Some(field) => field.problem_with(value),
                None => Some(format!("the form has no field `{}`", excerpt_text(name, 80))),
            };
            problems.extend(words.map(|words| FieldProblem { field: Some(name.clone()), words }));
        }
        for field in self.fields.iter().filter(|field| field.required) {
            if !content.contains_key(&field.name) {
                let field = Some(field.name.clone());
                let words = "is required".to_owned();
                problems.push(FieldProblem { field, words });
            }
        }
        // Problems per field can be shown next to it, so the whole schema is checked last.
        if !problems.is_empty() {
            return Err(problems);
        }
        self.check.check(&Value::Object(content.clone())).map_err(|bad| {
            let one = |problem: &ArgumentProblem| FieldProblem {
                field: None,
                words: problem.to_string(),
            };
            bad.problems.iter().map(one).collect()
        })
    }
}

impl Field {
    /// Parses typed text into the value of the field; empty text means the default, if any.
    ///
    /// Choices are typed as their numbers from 1, as their values or as their titles. An error is
    /// phrased to follow the field's name.
    pub fn read(&self, typed: &str) -> Result<Option<Value>, String> {
        let typed = typed.trim();
        if typed.is_empty() {
            return match self.required && self.default.is_none() {
                true => Err("is required".to_owned()),
                false => Ok(self.default.clone()),
            };
        }
        let value = match &self.kind {
            FieldKind::Text { .. } => Value::from(typed),
            FieldKind::Number { kind, .. } => parse_number(typed, *kind)?,
            FieldKind::Boolean => Value::from(parse_bool(typed)?),
            FieldKind::Choice(options) => Value::from(find_choice(typed, options)?),
            FieldKind::Choices { options, .. } => {
                let mut all: Vec<&str> = Vec::new();
                for word in typed.split(',').map(str::trim).filter(|word| !word.is_empty()) {
                    let value = find_choice(word, options)?;
                    if !all.contains(&value) {
                        all.push(value);
                    }
                }
                json!(all)
            }
        };
        match self.problem_with(&value) {
            Some(problem) => Err(problem),
            None => Ok(Some(value)),
        }
    }

    /// Returns the problem with a value, phrased to follow the field's name.
    pub fn problem_with(&self, value: &Value) -> Option<String> {
        if let Err(BadArguments { problems, .. }) = self.check.check(&json!({"value": value})) {
            let must = |problem: &ArgumentProblem| format!("must {}", problem.expected);
            return Some(problems.first().map_or_else(|| "does not fit".to_owned(), must));
        }
        match &self.kind {
            FieldKind::Text { format: Some(format), .. } => {
                let fits = value.as_str().is_some_and(|text| format.matches(text));
                (!fits).then(|| format!("must be {}", format.description()))
            }
            // The schema alone may allow more than the protocol does.
            FieldKind::Text { .. } => (!value.is_string()).then(|| "must be a text".to_owned()),
            FieldKind::Number { .. } => (!value.is_number()).then(|| "must be a number".to_owned()),
            FieldKind::Boolean => (!value.is_boolean()).then(|| "must be yes or no".to_owned()),
            FieldKind::Choice(options) => {
                let fits = value.as_str().is_some_and(|value| is_among(value, options));
                (!fits).then(|| "must be one of the choices".to_owned())
            }
            FieldKind::Choices { options, .. } => {
                let fits = |value: &Value| value.as_str().is_some_and(|v| is_among(v, options));
                let fits = value.as_array().is_some_and(|values| values.iter().all(fits));
                (!fits).then(|| "must be some of the choices".to_owned())
            }
        }
    }
}

impl TextFormat {
    /// Returns a description of the format, phrased to follow "must be".
    pub const fn description(self) -> &'static str {
        match self {
            Self::Email => "an email address, such as name@example.org",
            Self::Uri => "a URI, such as https://example.org",
            Self::Date => "a date, such as 2026-07-28",
            Self::DateTime => "a date and time with its zone, such as 2026-07-28T12:00:00Z",
        }
    }

    fn matches(self, text: &str) -> bool {
        let is_plain = !text.chars().any(|c| c.is_whitespace() || c.is_control());
        match self {
            Self::Email => {
                let parts = text.rsplit_once('@');
                is_plain && parts.is_some_and(|(name, host)| !name.is_empty() && is_host(host))
            }
            Self::Uri => {
                let parts = text.split_once(':');
                is_plain
                    && parts.is_some_and(|(scheme, rest)| is_scheme(scheme) && !rest.is_empty())
            }
            Self::Date => text.len() == 10 && text.parse::<jiff::civil::Date>().is_ok(),
            Self::DateTime => text.contains(['T', 't']) && text.parse::<jiff::Timestamp>().is_ok(),
        }
    }
}

fn is_host(text: &str) -> bool {
    text.split('.').all(|label| !label.is_empty() && !label.contains('@'))
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}

fn parse_number(typed: &str, kind: NumberKind) -> Result<Value, String> {
    let parsed = serde_json::from_str::<Value>(typed).ok().filter(Value::is_number);
    match kind {
        NumberKind::Number => parsed.ok_or_else(|| "must be a number".to_owned()),
        NumberKind::Integer => parsed
            .filter(|value| value.is_i64() || value.is_u64())
            .ok_or_else(|| "must be a whole number".to_owned()),
    }
}

fn parse_bool(typed: &str) -> Result<bool, String> {
    match typed.to_lowercase().as_str() {
        "y" | "yes" | "true" => Ok(true),
        "n" | "no" | "false" => Ok(false),
        _ => Err("must be y or n".to_owned()),
    }
}

fn is_among(value: &str, options: &[Choice]) -> bool {
    options.iter().any(|option| option.value == value)
}

/// Finds a choice by number first, since that is shown before each choice, then by value or title.
fn find_choice<'a>(typed: &str, options: &'a [Choice]) -> Result<&'a str, String> {
    let numbered = typed.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    let numbered = numbered.and_then(|at| options.get(at));
    let named = || options.iter().find(|one| one.value == typed || one.label() == typed);
    let found = numbered.or_else(named).map(|option| option.value.as_str());
    found.ok_or_else(|| match options.len() {
        1 => "must be 1, the only choice".to_owned(),
        count => format!("must be a number from 1 to {count}"),
    })
}
