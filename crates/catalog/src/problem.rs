//! Describes problems in the arguments of a call, so that a model or a person can fix them.

use std::fmt;

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{JsonType, ValidationError};
use serde_json::Value;
use switchboard_text::{MAX_VALUE_CHARS, excerpt_text, excerpt_value, nearest_names};

// Further problems are only counted: a model corrects a few at a time.
const MAX_PROBLEMS: usize = 5;
const MAX_OPTIONS: usize = 10;

/// The kind of an argument problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ArgumentProblemKind {
    MissingRequired,
    WrongType,
    OutOfRange,
    PatternMismatch,
    UnknownParameter,
    NotInEnum,
    Other,
}

/// One problem in the arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgumentProblem {
    /// JSON pointer into the arguments, unescaped: escape it before display.
    pub path: String,
    pub kind: ArgumentProblemKind,
    /// The expectation, as it follows "must": `be an integer`.
    pub expected: String,
    /// The actual value, escaped and truncated.
    pub found: String,
    /// The name that was probably meant.
    pub suggestion: Option<String>,
}

impl ArgumentProblem {
    pub(crate) fn not_an_object(arguments: &Value) -> Self {
        Self {
            path: String::new(),
            kind: ArgumentProblemKind::WrongType,
            expected: "be an object".to_owned(),
            found: type_name(arguments).to_owned(),
            suggestion: None,
        }
    }
}

impl fmt::Display for ArgumentProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => formatter.write_str("the arguments")?,
            path => write!(formatter, "`{}`", excerpt_text(path, MAX_VALUE_CHARS))?,
        }
        let suggestion = self.suggestion.as_deref().map(|name| excerpt_text(name, MAX_VALUE_CHARS));
        match (self.kind, suggestion) {
            (ArgumentProblemKind::MissingRequired, None) => {
                formatter.write_str(" is required but missing")
            }
            (ArgumentProblemKind::MissingRequired, Some(given)) => {
                write!(formatter, " is required but missing, perhaps given as `{given}`")
            }
            (ArgumentProblemKind::UnknownParameter, None) => {
                formatter.write_str(" is not a parameter")
            }
            (ArgumentProblemKind::UnknownParameter, Some(meant)) => {
                write!(formatter, " is not a parameter, did you mean `{meant}`?")
            }
            _ => write!(formatter, " must {}, got {}", self.expected, self.found),
        }
    }
}

/// Arguments that violate the schema, with the problems.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", ProblemList(self))]
pub struct BadArguments {
    /// The first problems; `more` counts the others.
    pub problems: Vec<ArgumentProblem>,
    pub more: usize,
}

impl BadArguments {
    pub(crate) fn single(problem: ArgumentProblem) -> Self {
        Self { problems: vec![problem], more: 0 }
    }
}

struct ProblemList<'a>(&'a BadArguments);

impl fmt::Display for ProblemList<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, problem) in self.0.problems.iter().enumerate() {
            let before = if position == 0 { "" } else { "; " };
            write!(formatter, "{before}{problem}")?;
        }
        match self.0.more {
            0 => Ok(()),
            more => write!(formatter, "; and {more} more"),
        }
    }
}

/// Converts validation errors into problems.
pub(crate) struct ProblemCollector<'a> {
    schema: &'a Value,
    arguments: &'a Value,
    problems: Vec<ArgumentProblem>,
    more: usize,
}

impl<'a> ProblemCollector<'a> {
    pub(crate) fn new(schema: &'a Value, arguments: &'a Value) -> Self {
        Self { schema, arguments, problems: Vec::new(), more: 0 }
    }

    pub(crate) fn read<'e>(
        mut self,
        errors: impl Iterator<Item = ValidationError<'e>>,
    ) -> BadArguments {
        for error in errors {
            self.add_error(&error);
        }
        BadArguments { problems: self.problems, more: self.more }
    }

    fn push(&mut self, problem: ArgumentProblem) {
        if self.problems.contains(&problem) {
            return;
        }
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem);
        } else {
            self.more += 1;
        }
    }

    fn add_error(&mut self, error: &ValidationError<'_>) {
        if self.problems.len() >= MAX_PROBLEMS {
            self.more += 1;
            return;
        }
        let path = error.instance_path().as_str();
        match error.kind() {
            ValidationErrorKind::AdditionalProperties { unexpected }
            | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
                self.add_unknown(path, unexpected, error.schema_path().as_str());
            }
            ValidationErrorKind::Required { property: Value::String(name) } => {
                self.add_missing(path, name);
            }
            ValidationErrorKind::AnyOf { context }
            | ValidationErrorKind::OneOfNotValid { context } => {
                self.add_alternatives(error, context);
            }
            kind => {
                let (kind, expected) = expectation(kind);
                let found = error.instance();
                let found = match kind {
                    ArgumentProblemKind::WrongType => type_name(found).to_owned(),
                    _ => excerpt_value(found),
                };
                let path = path.to_owned();
                self.push(ArgumentProblem { path, kind, expected, found, suggestion: None });
            }
        }
    }

    fn add_missing(&mut self, path: &str, name: &str) {
        let known = self.schema.get("properties").and_then(Value::as_object);
        let is_known =
            |given: &str| path.is_empty() && known.is_some_and(|k| k.contains_key(given));
        let given = self.arguments.pointer(path).and_then(Value::as_object);
        let given = given.into_iter().flat_map(serde_json::Map::keys).map(String::as_str);
        // A declared parameter cannot be a misspelling of the missing one.
        let strangers = given.filter(|given| !is_known(given));
        self.push(ArgumentProblem {
            path: format!("{path}/{}", escape_pointer(name)),
            kind: ArgumentProblemKind::MissingRequired,
            expected: "be given".to_owned(),
            found: "nothing".to_owned(),
            suggestion: nearest_names(name, strangers, 1).first().map(|name| (*name).to_owned()),
        });
    }

    fn add_unknown(&mut self, path: &str, names: &[String], keyword_path: &str) {
        let known = self.known_names(keyword_path);
        let room = MAX_PROBLEMS.saturating_sub(self.problems.len());
        self.more += names.len().saturating_sub(room);
        for name in names.iter().take(room) {
            let path = format!("{path}/{}", escape_pointer(name));
            let value = self.arguments.pointer(&path);
            let meant = nearest_names(name, known.iter().map(String::as_str), 1);
            self.push(ArgumentProblem {
                kind: ArgumentProblemKind::UnknownParameter,
                expected: "not be given".to_owned(),
                found: value.map_or_else(|| "a value".to_owned(), excerpt_value),
                suggestion: meant.first().map(|name| (*name).to_owned()),
                path,
            });
        }
    }

    /// Returns the parameters declared in the same schema object as the keyword.
    fn known_names(&self, keyword_path: &str) -> Vec<String> {
        let parent = keyword_path.rsplit_once('/').map_or("", |(parent, _)| parent);
        let schema = self.schema.pointer(parent).unwrap_or(self.schema);
        let properties = schema.get("properties").and_then(Value::as_object);
        properties.into_iter().flat_map(serde_json::Map::keys).cloned().collect()
    }

    /// Reports why no alternative matches.
    fn add_alternatives(
        &mut self,
        error: &ValidationError<'_>,
        branches: &[Vec<ValidationError<'_>>],
    ) {
        let here = error.instance_path().as_str();
        let wrong_type = |error: &ValidationError<'_>| {
            error.instance_path().as_str() == here
                && matches!(error.kind(), ValidationErrorKind::Type { .. })
        };
        let mut wanted: Vec<String> = Vec::new();
        let mut meant: Vec<&Vec<ValidationError<'_>>> = Vec::new();
        for branch in branches {
            match branch.iter().find(|error| wrong_type(error)).map(ValidationError::kind) {
                Some(ValidationErrorKind::Type { kind }) => wanted.extend(type_names(kind)),
                _ => meant.push(branch),
            }
        }
        wanted.dedup();
        // If only one alternative has the right type, it was meant, and its problems help most.
        if let [branch] = meant.as_slice() {
            branch.iter().for_each(|error| self.add_error(error));
            return;
        }
        let (kind, expected, found) = if meant.is_empty() && !wanted.is_empty() {
            let found = type_name(error.instance()).to_owned();
            (ArgumentProblemKind::WrongType, format!("be {}", wanted.join(" or ")), found)
        } else {
            let expected = format!("fit one of {} alternatives", branches.len());
            (ArgumentProblemKind::Other, expected, excerpt_value(error.instance()))
        };
        let path = here.to_owned();
        self.push(ArgumentProblem { path, kind, expected, found, suggestion: None });
    }
}

/// Returns the kind of problem, and the expectation as it follows "must".
fn expectation(kind: &ValidationErrorKind) -> (ArgumentProblemKind, String) {
    use ValidationErrorKind as Kind;
    let plural = |count: u64, unit: &str| match count {
        1 => format!("1 {unit}"),
        _ => format!("{count} {unit}s"),
    };
    let range = |text: String| (ArgumentProblemKind::OutOfRange, text);
    let other = |text: String| (ArgumentProblemKind::Other, text);
    match kind {
        Kind::Type { kind } => {
            (ArgumentProblemKind::WrongType, format!("be {}", type_names(kind).join(" or ")))
        }
        Kind::Enum { options } => (ArgumentProblemKind::NotInEnum, list_options(options)),
        Kind::Constant { expected_value } => {
            (ArgumentProblemKind::NotInEnum, format!("be {}", excerpt_value(expected_value)))
        }
        Kind::Minimum { limit } => range(format!("be at least {limit}")),
        Kind::Maximum { limit } => range(format!("be at most {limit}")),
        Kind::ExclusiveMinimum { limit } => range(format!("be more than {limit}")),
        Kind::ExclusiveMaximum { limit } => range(format!("be less than {limit}")),
        Kind::MultipleOf { multiple_of } => range(format!("be a multiple of {multiple_of}")),
        Kind::MinLength { limit } => {
            range(format!("have at least {}", plural(*limit, "character")))
        }
        Kind::MaxLength { limit } => range(format!("have at most {}", plural(*limit, "character"))),
        Kind::MinItems { limit } => range(format!("have at least {}", plural(*limit, "item"))),
        Kind::MaxItems { limit } => range(format!("have at most {}", plural(*limit, "item"))),
        Kind::AdditionalItems { limit } => {
            let limit = u64::try_from(*limit).unwrap_or(u64::MAX);
            range(format!("have at most {}", plural(limit, "item")))
        }
        Kind::MinProperties { limit } => {
            range(format!("have at least {}", plural(*limit, "member")))
        }
        Kind::MaxProperties { limit } => {
            range(format!("have at most {}", plural(*limit, "member")))
        }
        Kind::Pattern { pattern } => (
            ArgumentProblemKind::PatternMismatch,
            format!("match `{}`", excerpt_text(pattern, MAX_VALUE_CHARS)),
        ),
        Kind::BacktrackLimitExceeded { .. } | Kind::RegexEngineFailure { .. } => (
            ArgumentProblemKind::PatternMismatch,
            "match a pattern that takes too long to evaluate".to_owned(),
        ),
        Kind::Format { format } => (
            ArgumentProblemKind::PatternMismatch,
            format!("be a valid {}", excerpt_text(format, MAX_VALUE_CHARS)),
        ),
        Kind::PropertyNames { error } => {
            other(format!("have other member names: {}", expectation(error.kind()).1))
        }
        Kind::OneOfMultipleValid { .. } => other("fit only one of the alternatives".to_owned()),
        Kind::UniqueItems => other("have unique items".to_owned()),
        Kind::Contains => other("contain a matching item".to_owned()),
        Kind::FalseSchema => other("not be given".to_owned()),
        Kind::Not { .. } => other("not match the excluded schema".to_owned()),
        kind => other(format!("satisfy `{}`", kind.keyword())),
    }
}

fn list_options(options: &Value) -> String {
    let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
    let shown: Vec<String> = options.iter().take(MAX_OPTIONS).map(excerpt_value).collect();
    let rest = if options.len() > MAX_OPTIONS { ", …" } else { "" };
    format!("be one of {}{rest}", shown.join(", "))
}

fn type_names(kind: &TypeKind) -> Vec<String> {
    let name = |json_type: JsonType| article(&json_type.to_string()).to_owned();
    match kind {
        TypeKind::Single(json_type) => vec![name(*json_type)],
        TypeKind::Multiple(types) => types.iter().map(name).collect(),
    }
}

fn type_name(value: &Value) -> &'static str {
    article(match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    })
}

fn article(json_type: &str) -> &'static str {
    match json_type {
        "null" => "null",
        "boolean" => "a boolean",
        "integer" => "an integer",
        "number" => "a number",
        "string" => "a string",
        "array" => "an array",
        _ => "an object",
    }
}

fn escape_pointer(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
