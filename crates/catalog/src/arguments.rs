//! Validates the arguments of a call against the input schema that the tool was listed with.

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

// A server writes the schema and a model writes the arguments. The limits bound the memory, the
// stack and the time that either can cost.
const MAX_SCHEMA_BYTES: usize = 256 * 1024;
// Memory for all compiled patterns of a schema, divided among them.
const MAX_TOTAL_PATTERN_BYTES: usize = 16 * 1024 * 1024;
const MAX_PATTERN_BYTES: usize = 1024 * 1024;
// Only for patterns with look-around; other patterns run in linear time.
const MAX_BACKTRACKS: usize = 5_000;
const MAX_ARGUMENT_DEPTH: usize = 64;
// Levels of a recursive schema that one check follows, which bounds the stack.
const MAX_SCHEMA_RECURSION: usize = 1_500;
// Visits of a recursive schema while the validation errors are described.
const MAX_VISITS: usize = 20_000;

/// The reason why a schema cannot be used to check arguments.
#[derive(Debug, thiserror::Error)]
pub enum BadSchema {
    #[error("the schema is {found} bytes long, more than {limit}")]
    TooLong { found: usize, limit: usize },
    #[error("the schema is not JSON: {0}")]
    NotJson(#[source] serde_json::Error),
    #[error("the schema is not an object")]
    NotAnObject,
    #[error("the schema nests deeper than {limit} levels")]
    TooDeep { limit: usize },
    // Counted with references followed.
    #[error("the schema unfolds into more than {limit} subschemas")]
    TooManySubschemas { limit: usize },
    // Never fetched: a server could make us send requests to any address.
    #[error("the schema refers to another document, `{}`", excerpt_text(reference, 80))]
    RemoteReference { reference: String },
    #[error("the schema refers to `{}`, which it does not contain", excerpt_text(reference, 80))]
    UnknownReference { reference: String },
    #[error(
        "the schema is not valid at `{}`: {}",
        excerpt_text(path, 80),
        excerpt_text(reason, 200)
    )]
    Invalid { path: String, reason: String },
}

impl BadSchema {
    /// Returns a suggestion for fixing the schema.
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

/// A compiled input schema.
pub struct ArgumentCheck {
    rules: Option<CompiledSchema>, // `None` accepts any object.
}

struct CompiledSchema {
    schema: Value,
    validator: Validator,
    extent: SchemaExtent,
}

impl ArgumentCheck {
    /// Compiles a schema from JSON text. Empty text accepts any object. The draft is the one that
    /// `$schema` names, or 2020-12.
    pub fn compile(schema: &str) -> Result<Self, BadSchema> {
        if schema.len() > MAX_SCHEMA_BYTES {
            return Err(BadSchema::TooLong { found: schema.len(), limit: MAX_SCHEMA_BYTES });
        }
        if schema.trim().is_empty() {
            return Ok(Self { rules: None });
        }
        let mut schema: Value = serde_json::from_str(schema).map_err(|error| {
            // The parser's own recursion limit applies before `measure` runs.
            if error.to_string().starts_with("recursion limit") {
                BadSchema::TooDeep { limit: MAX_DEPTH }
            } else {
                BadSchema::NotJson(error)
            }
        })?;
        let named = match &mut schema {
            Value::Null | Value::Bool(true) => return Ok(Self { rules: None }),
            Value::Object(members) if members.is_empty() => return Ok(Self { rules: None }),
            // Remove `$schema`: the validator would try to load an unknown draft.
            Value::Object(members) => members.remove("$schema"),
            _ => return Err(BadSchema::NotAnObject),
        };
        let extent = measure(&schema)?;
        let validator = match build_validator(&schema, draft(named.as_ref()), extent) {
            Ok(validator) => validator,
            // Without `$schema`, it may be written for draft 4, which some servers still use.
            Err(error) if named.is_none() => build_validator(&schema, Draft::Draft4, extent)
                .map_err(|_| invalid_schema(&error))?,
            Err(error) => return Err(invalid_schema(&error)),
        };
        Ok(Self { rules: Some(CompiledSchema { schema, validator, extent }) })
    }

    /// Checks the arguments of a call, which must be an object.
    pub fn check(&self, arguments: &Value) -> Result<(), BadArguments> {
        if !arguments.is_object() {
            return Err(BadArguments::single(ArgumentProblem::not_an_object(arguments)));
        }
        self.check_value(arguments)
    }

    /// Checks a value of any type, such as a structured result.
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
        // Collecting errors does not memoize visited subschemas: where a schema refers to itself in
        // several ways, each level of the arguments multiplies the work.
        if contains_itself && is_deeper_than(arguments, describable_levels(self.extent.returns)) {
            return Err(BadArguments::single(ArgumentProblem {
                path: String::new(),
                kind: ArgumentProblemKind::Other,
                expected: "fit the tool's schema".to_owned(),
                found: "arguments that nest too deep to describe the problem".to_owned(),
                suggestion: None,
            }));
        }
        Err(ProblemCollector::new(&self.schema, arguments)
            .read(self.validator.iter_errors(arguments)))
    }
}

/// Returns the levels that can be described if each multiplies the work by `returns`.
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
    // Formats are annotations in current drafts, and the server validates them.
    let options = jsonschema::options().with_draft(draft).offline().should_validate_formats(false);
    let linear = PatternOptions::regex().size_limit(size).dfa_size_limit(size);
    let looking_around = PatternOptions::fancy_regex()
        .backtrack_limit(MAX_BACKTRACKS)
        .size_limit(size)
        .dfa_size_limit(size);
    // The linear engine does not support look-around, which some legitimate schemas use.
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

// A full cache is cleared, which is rare and cheap.
const MAX_CHECKS: usize = 1_024;

type CompiledCheck = Arc<Result<ArgumentCheck, BadSchema>>;

/// Compiled checks, keyed by the fingerprint of the definition.
#[derive(Debug, Default)]
pub struct CheckCache {
    compiled: Mutex<HashMap<Box<str>, CompiledCheck>>,
}

impl CheckCache {
    /// Returns the check for a definition, compiling it on first use.
    pub fn get_or_compile(
        &self,
        digest: &str,
        compile: impl FnOnce() -> Result<ArgumentCheck, BadSchema>,
    ) -> CompiledCheck {
        if let Some(check) = self.compiled.lock().get(digest) {
            return Arc::clone(check);
        }
        // Compile outside the lock, so that a large schema does not block other calls.
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
