//! Checks the arguments of a call against the schema the tool was listed with.

use std::fmt;
use std::sync::Arc;

use foldhash::HashMap;
use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, PatternOptions, ValidationError, Validator};
use parking_lot::Mutex;
use serde_json::Value;
use switchboard_text::excerpt_text;

use crate::problem::{ArgumentProblem, ArgumentProblemKind, BadArguments, ProblemCollector};
use crate::schema_bounds::{MAX_DEPTH, SchemaExtent, is_deeper_than, measure};

/// The longest schema that is compiled, in bytes.
const MAX_SCHEMA_BYTES: usize = 256 * 1024;
/// The memory all compiled patterns of a schema may take, and one of them, in bytes.
const MAX_TOTAL_PATTERN_BYTES: usize = 16 * 1024 * 1024;
const MAX_PATTERN_BYTES: usize = 1024 * 1024;
/// Steps a pattern that looks around may take; ordinary patterns take linear time.
const MAX_BACKTRACKS: usize = 5_000;
/// How deep arguments may nest.
const MAX_ARGUMENT_DEPTH: usize = 64;
/// How deep a schema that contains itself may go in one check, which bounds the stack.
const MAX_SCHEMA_RECURSION: usize = 1_500;
/// How often such a schema may be entered to describe what is wrong.
const MAX_VISITS: usize = 20_000;

/// Why a schema cannot be used to check arguments.
#[derive(Debug, thiserror::Error)]
pub enum BadSchema {
    /// The text is longer than any tool needs.
    #[error("the schema is {found} bytes long, more than {limit}")]
    TooLong {
        /// The length of the text.
        found: usize,
        /// The longest length that is accepted.
        limit: usize,
    },
    /// The text is not JSON.
    #[error("the schema is not JSON: {0}")]
    NotJson(#[source] serde_json::Error),
    /// The text is JSON, but no object.
    #[error("the schema is not an object")]
    NotAnObject,
    /// The schema nests too deep, in its text or along its references.
    #[error("the schema nests deeper than {limit} levels")]
    TooDeep {
        /// The deepest nesting that is accepted.
        limit: usize,
    },
    /// The schema unfolds into too many parts.
    #[error("the schema unfolds into more than {limit} subschemas")]
    TooManySubschemas {
        /// The most that are accepted.
        limit: usize,
    },
    /// The schema refers to another document, and those are never fetched.
    #[error("the schema refers to another document, `{}`", excerpt_text(reference, 80))]
    RemoteReference {
        /// The reference as written.
        reference: String,
    },
    /// The schema refers to a part of itself that is not there.
    #[error("the schema refers to `{}`, which it does not contain", excerpt_text(reference, 80))]
    UnknownReference {
        /// The reference as written.
        reference: String,
    },
    /// The schema breaks the rules of its draft.
    #[error(
        "the schema is not valid at `{}`: {}",
        excerpt_text(path, 80),
        excerpt_text(reason, 200)
    )]
    Invalid {
        /// Where in the schema, as a JSON pointer.
        path: String,
        /// What is wrong there.
        reason: String,
    },
}

impl BadSchema {
    /// What can be done about it.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::RemoteReference { .. } => {
                "the server has to put the referenced schema under `$defs`"
            }
            Self::TooLong { .. } | Self::TooDeep { .. } | Self::TooManySubschemas { .. } => {
                "the server has to list the tool with a smaller schema"
            }
            _ => "the server has to correct the tool's input schema",
        }
    }
}

/// A tool's input schema, compiled.
pub struct ArgumentCheck {
    /// None accepts any object.
    rules: Option<CompiledSchema>,
}

struct CompiledSchema {
    schema: Value,
    validator: Validator,
    extent: SchemaExtent,
}

impl ArgumentCheck {
    /// Compiles a schema given as JSON text; an empty text accepts any object.
    ///
    /// The draft is the one that `$schema` names, and 2020-12 without it. Formats are not
    /// checked: they are hints, and the server is the judge of them.
    ///
    /// # Errors
    ///
    /// When the schema is too large, reaches outside itself or is not valid.
    pub fn compile(schema: &str) -> Result<Self, BadSchema> {
        if schema.len() > MAX_SCHEMA_BYTES {
            return Err(BadSchema::TooLong { found: schema.len(), limit: MAX_SCHEMA_BYTES });
        }
        if schema.trim().is_empty() {
            return Ok(Self { rules: None });
        }
        let mut schema: Value = serde_json::from_str(schema).map_err(|error| {
            // The parser gives up before the measure below could be taken.
            if error.to_string().starts_with("recursion limit") {
                BadSchema::TooDeep { limit: MAX_DEPTH }
            } else {
                BadSchema::NotJson(error)
            }
        })?;
        let named = match &mut schema {
            Value::Null | Value::Bool(true) => return Ok(Self { rules: None }),
            Value::Object(members) if members.is_empty() => return Ok(Self { rules: None }),
            // Taken out, because a draft that nobody knows would otherwise be looked for.
            Value::Object(members) => members.remove("$schema"),
            _ => return Err(BadSchema::NotAnObject),
        };
        let extent = measure(&schema)?;
        let validator = match build_validator(&schema, draft(named.as_ref()), extent) {
            Ok(validator) => validator,
            // A schema that names no draft may be of the oldest one that is still written.
            Err(error) if named.is_none() => build_validator(&schema, Draft::Draft4, extent)
                .map_err(|_| invalid_schema(&error))?,
            Err(error) => return Err(invalid_schema(&error)),
        };
        Ok(Self { rules: Some(CompiledSchema { schema, validator, extent }) })
    }

    /// Checks arguments.
    ///
    /// # Errors
    ///
    /// When the arguments are no object or do not fit the schema.
    pub fn check(&self, arguments: &Value) -> Result<(), BadArguments> {
        if !arguments.is_object() {
            return Err(BadArguments::single(ArgumentProblem::not_an_object(arguments)));
        }
        self.check_value(arguments)
    }

    /// Checks a value of any type.
    ///
    /// # Errors
    ///
    /// When it does not fit the schema.
    pub fn check_value(&self, value: &Value) -> Result<(), BadArguments> {
        if is_deeper_than(value, MAX_ARGUMENT_DEPTH) {
            return Err(BadArguments::single(too_deep(MAX_ARGUMENT_DEPTH)));
        }
        match &self.rules {
            Some(rules) => rules.check(value),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for ArgumentCheck {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let schema = self.rules.as_ref().map(|rules| &rules.schema);
        formatter.debug_struct("ArgumentCheck").field("schema", &schema).finish_non_exhaustive()
    }
}

impl CompiledSchema {
    fn check(&self, arguments: &Value) -> Result<(), BadArguments> {
        let contains_itself = self.extent.returns > 0;
        let levels = MAX_SCHEMA_RECURSION / self.extent.depth.max(1);
        if contains_itself && is_deeper_than(arguments, levels) {
            return Err(BadArguments::single(too_deep(levels)));
        }
        if self.validator.is_valid(arguments) {
            return Ok(());
        }
        // Describing has no memory of what it has seen: where a schema leads back to itself in
        // several ways, each level of the arguments multiplies the work.
        if contains_itself && is_deeper_than(arguments, describable_levels(self.extent.returns)) {
            return Err(BadArguments::single(ArgumentProblem {
                path: String::new(),
                kind: ArgumentProblemKind::Other,
                expected: "fit the tool's schema".to_owned(),
                found: "arguments that nest too deep to say where they do not".to_owned(),
                suggestion: None,
            }));
        }
        Err(ProblemCollector::new(&self.schema, arguments)
            .read(self.validator.iter_errors(arguments)))
    }
}

/// How many levels can be described when every level multiplies the work by `returns`.
fn describable_levels(returns: usize) -> usize {
    if returns < 2 {
        return MAX_ARGUMENT_DEPTH;
    }
    MAX_VISITS.ilog(returns) as usize
}

fn too_deep(limit: usize) -> ArgumentProblem {
    ArgumentProblem {
        path: String::new(),
        kind: ArgumentProblemKind::OutOfRange,
        expected: format!("nest at most {limit} levels deep"),
        found: "deeper ones".to_owned(),
        suggestion: None,
    }
}

fn draft(named: Option<&Value>) -> Draft {
    let named = named.and_then(Value::as_str).unwrap_or_default();
    let known = [
        ("draft-04", Draft::Draft4),
        ("draft-06", Draft::Draft6),
        ("draft-07", Draft::Draft7),
        ("2019-09", Draft::Draft201909),
    ];
    known
        .into_iter()
        .find(|(part, _)| named.contains(part))
        .map_or(Draft::Draft202012, |(_, draft)| draft)
}

fn build_validator(
    schema: &Value,
    draft: Draft,
    extent: SchemaExtent,
) -> Result<Validator, ValidationError<'static>> {
    let size = MAX_PATTERN_BYTES.min(MAX_TOTAL_PATTERN_BYTES / extent.patterns.max(1));
    let options = jsonschema::options().with_draft(draft).offline().should_validate_formats(false);
    let linear = PatternOptions::regex().size_limit(size).dfa_size_limit(size);
    let looking_around = PatternOptions::fancy_regex()
        .backtrack_limit(MAX_BACKTRACKS)
        .size_limit(size)
        .dfa_size_limit(size);
    // The linear engine knows no look-around, which some honest schemas use.
    options
        .clone()
        .with_pattern_options(linear)
        .build(schema)
        .or_else(|_| options.with_pattern_options(looking_around).build(schema))
}

fn invalid_schema(error: &ValidationError<'_>) -> BadSchema {
    match error.kind() {
        ValidationErrorKind::Referencing(jsonschema::ReferencingError::Unretrievable {
            uri,
            ..
        }) => BadSchema::RemoteReference { reference: uri.clone() },
        _ => BadSchema::Invalid {
            path: error.instance_path().as_str().to_owned(),
            reason: error.to_string(),
        },
    }
}

/// As many checks are kept; then all are let go, which is rare and cheap enough.
const MAX_CHECKS: usize = 1_024;

type CompiledCheck = Arc<Result<ArgumentCheck, BadSchema>>;

/// Compiled checks, by the fingerprint of the definition they were made from.
#[derive(Debug, Default)]
pub struct CheckCache {
    compiled: Mutex<HashMap<Box<str>, CompiledCheck>>,
}

impl CheckCache {
    /// The check for a definition, compiled if it is the first time.
    pub fn get_or_compile(
        &self,
        digest: &str,
        compile: impl FnOnce() -> Result<ArgumentCheck, BadSchema>,
    ) -> CompiledCheck {
        if let Some(check) = self.compiled.lock().get(digest) {
            return Arc::clone(check);
        }
        // Compiled outside the lock: a large schema must not hold up other calls.
        let check = Arc::new(compile());
        let mut compiled = self.compiled.lock();
        if compiled.len() >= MAX_CHECKS {
            compiled.clear();
        }
        compiled.insert(digest.into(), Arc::clone(&check));
        check
    }
}

#[cfg(test)]
#[path = "arguments_tests.rs"]
mod tests;
