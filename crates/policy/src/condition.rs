//! Evaluates the conditions of rules.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, LazyLock};

use cel::extractors::This;
use cel::objects::{Key, Map};
use cel::{Context, DeclarationError, Env, ExecutionError, Value};
use regex::Regex;
use serde_json::Value as Json;
use switchboard_core::TargetKind;
use switchboard_net::{UrlParts, check_host_pattern, host_matches};
use switchboard_rules::{Expression, RuleEffect, SESSION_WITH_RESULTS, compile_at_call, path_in};
use switchboard_text::{is_hidden, is_variation_selector};

use crate::facts::PolicyFacts;
use crate::risk::assess_risk;

static CEL_ENV: LazyLock<Arc<Env>> = LazyLock::new(|| Arc::new(Env::stdlib()));

/// Evaluates conditions for one call. Variables are computed once, and only if used.
pub(crate) struct ConditionEvaluator<'a> {
    facts: &'a PolicyFacts<'a>,
    patterns: &'a Arc<RegexTable>,
    sent: CelContext,
    /// The arguments without hidden characters, if they contain any. Computed on first use.
    plain: Option<Option<String>>,
    read: CelContext,
}

#[derive(Default)]
struct CelContext {
    context: Option<Context<'static, 'static>>,
    defined: BTreeSet<&'static str>,
}

impl<'a> ConditionEvaluator<'a> {
    pub(crate) fn new(facts: &'a PolicyFacts<'a>, patterns: &'a Arc<RegexTable>) -> Self {
        Self {
            facts,
            patterns,
            sent: CelContext::default(),
            plain: None,
            read: CelContext::default(),
        }
    }

    /// Returns whether the condition of a rule with this effect holds. Fails if it cannot be
    /// evaluated, for example because an argument is missing or has another type.
    pub(crate) fn holds(
        &mut self,
        expression: &Expression,
        effect: RuleEffect,
    ) -> Result<bool, String> {
        // A server may ignore hidden characters, so arguments that contain some are also evaluated
        // without them. An `allow` must match both forms, other effects either.
        let holds = self.sent.holds(self.facts, expression, self.patterns)?;
        // The plain form can only turn an `allow` off, or any other effect on.
        let is_settled = holds != (effect == RuleEffect::Allow);
        let looks_at_them =
            expression.variables().iter().any(|name| ["args", "risk"].contains(name));
        if is_settled || !looks_at_them {
            return Ok(holds);
        }
        let plain = self.plain.get_or_insert_with(|| without_hidden(self.facts.arguments));
        let Some(arguments) = plain else { return Ok(holds) };
        self.read.holds(&PolicyFacts { arguments, ..*self.facts }, expression, self.patterns)
    }
}

impl CelContext {
    fn holds(
        &mut self,
        facts: &PolicyFacts<'_>,
        expression: &Expression,
        patterns: &Arc<RegexTable>,
    ) -> Result<bool, String> {
        let context = match &mut self.context {
            Some(context) => context,
            None => {
                let mut context = Context::with_env(Arc::clone(&CEL_ENV));
                register_functions(&mut context, patterns).map_err(|error| error.to_string())?;
                self.context.insert(context)
            }
        };
        for name in expression.variables() {
            if self.defined.insert(name) {
                let value = variable(facts, name)?;
                if *name == SESSION_WITH_RESULTS {
                    // It contains everything in plain `session`, which must not overwrite it.
                    self.defined.insert("session");
                    context.add_variable_from_value("session", value);
                } else {
                    context.add_variable_from_value(*name, value);
                }
            }
        }
        match expression.program().execute(context) {
            Ok(Value::Bool(holds)) => Ok(holds),
            Ok(other) => Err(format!("it returns a {} instead of a boolean", other.type_of())),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// Returns the arguments without hidden characters, or `None` if they contain none.
fn without_hidden(arguments: &str) -> Option<String> {
    // A JSON escape may encode any character.
    if arguments.is_ascii() && !arguments.contains('\\') {
        return None;
    }
    let sent: Json = serde_json::from_str(arguments).ok()?;
    let plain = strip_hidden(&sent);
    (plain != sent).then(|| plain.to_string())
}

fn strip_hidden(json: &Json) -> Json {
    let hides = |c: char| {
        is_hidden(c)
            || is_variation_selector(c)
            || c.is_control() && !matches!(c, '\n' | '\t' | '\r')
    };
    let seen = |text: &str| text.chars().filter(|c| !hides(*c)).collect::<String>();
    match json {
        Json::String(text) => Json::String(seen(text)),
        Json::Array(items) => items.iter().map(strip_hidden).collect(),
        Json::Object(members) => {
            members.iter().map(|(name, value)| (seen(name), strip_hidden(value))).collect()
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => json.clone(),
    }
}

fn variable(facts: &PolicyFacts<'_>, name: &str) -> Result<Value, String> {
    Ok(match name {
        "args" => arguments(facts)?,
        "tool" => {
            let annotations = facts.annotations.text().map(serde_json::from_str::<Json>);
            let annotations = match annotations {
                Some(Ok(value @ Json::Object(_))) => to_cel_value(&value),
                Some(_) | None => cel_map([]),
            };
            cel_map([
                ("name", Value::from(facts.target.name.as_str())),
                ("kind", Value::from(facts.target.kind.as_str())),
                ("readOnly", Value::Bool(facts.read_only)),
                ("annotations", annotations),
            ])
        }
        "server" => cel_map([
            ("name", Value::from(facts.target.server.as_str())),
            ("transport", Value::from(facts.transport)),
            ("trusted", Value::Bool(facts.trusted)),
        ]),
        "caller" => cel_map([
            ("face", Value::from(facts.caller.face.to_string())),
            ("origin", Value::from(facts.caller.origin.to_string())),
            ("name", Value::from(facts.caller.name.as_str())),
        ]),
        "session" | SESSION_WITH_RESULTS => {
            let reads: Vec<&str> = facts.session.reads.iter().map(AsRef::as_ref).collect();
            let number = |number: u64| Value::Int(i64::try_from(number).unwrap_or(i64::MAX));
            let times = facts.session.server_counts();
            let times = times.map(|(server, times)| (cel_key(server), number(times))).collect();
            let mut members = vec![
                ("reads", Value::from(reads)),
                ("times", Value::Map(Map { map: Arc::new(times) })),
                ("calls", number(facts.session.calls)),
                ("tainted", Value::Bool(facts.tainted_by().is_some())),
            ];
            if name == SESSION_WITH_RESULTS {
                let times = facts.session.results.counts();
                let times = times.ok_or("the session has more results than are counted")?;
                let times = times.map(|(name, times)| (cel_key(name), number(times)));
                members.push(("results", Value::Map(Map { map: Arc::new(times.collect()) })));
            }
            cel_map(members)
        }
        "risk" => {
            let risk = assess_risk(facts);
            cel_map([
                ("score", Value::Int(risk.score.into())),
                ("reasons", Value::from(risk.reasons)),
            ])
        }
        other => return Err(format!("unknown variable `{other}`")),
    })
}

/// Returns the arguments exactly as sent; for a resource, its URI.
fn arguments(facts: &PolicyFacts<'_>) -> Result<Value, String> {
    if facts.target.kind == TargetKind::Resource {
        return Ok(cel_map([("uri", Value::from(facts.target.name.as_str()))]));
    }
    let parsed: Json = serde_json::from_str(facts.arguments)
        .map_err(|error| format!("the arguments cannot be read: {error}"))?;
    Ok(to_cel_value(&parsed))
}

fn cel_map<'n>(members: impl IntoIterator<Item = (&'n str, Value)>) -> Value {
    let members = members.into_iter().map(|(name, value)| (cel_key(name), value));
    Value::Map(Map { map: Arc::new(members.collect()) })
}

fn cel_key(name: &str) -> Key {
    Key::String(Arc::new(name.to_owned()))
}

/// Converts a JSON value to CEL. Integers stay integers, other numbers become floats.
fn to_cel_value(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(whole), _) => Value::Int(whole),
            (None, Some(whole)) => Value::UInt(whole),
            (None, None) => number.as_f64().map_or(Value::Null, Value::Float),
        },
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(items) => Value::from(items.iter().map(to_cel_value).collect::<Vec<_>>()),
        Json::Object(members) => {
            let members: HashMap<Key, Value> =
                members.iter().map(|(name, value)| (cel_key(name), to_cel_value(value))).collect();
            Value::Map(Map { map: Arc::new(members) })
        }
    }
}

/// Regular expressions that are literals in conditions, by their text. Compiled once for all calls.
pub(crate) type RegexTable = HashMap<Box<str>, Regex>;

/// Registers the functions that conditions can call. Fails if CEL declares one of the same name.
fn register_functions(
    context: &mut Context<'_, '_>,
    patterns: &Arc<RegexTable>,
) -> Result<(), DeclarationError> {
    let patterns = Arc::clone(patterns);
    context.add_function(
        "matches",
        move |This(text): This<Arc<String>>, pattern: Arc<String>| {
            if let Some(known) = patterns.get(pattern.as_str()) {
                return Ok(known.is_match(&text));
            }
            // The pattern is computed, for example from an argument.
            compile_at_call(&pattern)
                .map(|pattern| pattern.is_match(&text))
                .map_err(|cause| ExecutionError::function_error("matches", cause))
        },
    )?;
    context.add_function("path_in", |path: Arc<String>, folder: Arc<String>| {
        path_in(&path, &folder).map_err(|cause| ExecutionError::function_error("path_in", cause))
    })?;
    context.add_function("host_in", |address: Arc<String>, pattern: Arc<String>| {
        host_in(&address, &pattern)
            .map_err(|cause| ExecutionError::function_error("host_in", cause))
    })
}

/// Returns whether the host of a URL matches a name, or `*.name` for its subdomains.
fn host_in(address: &str, pattern: &str) -> Result<bool, String> {
    check_host_pattern(pattern).map_err(|cause| format!("the pattern {cause}"))?;
    let parts = UrlParts::parse(address)?;
    Ok(host_matches(&parts.host, pattern))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_taken_from_an_address_that_leaves_no_doubt() {
        for (address, expected) in [
            ("https://api.example.com/x", Some(true)),
            ("https://example.com.evil.tld/", Some(false)),
            ("https://evil.tld#.example.com", Some(false)),
            ("https://user@api.example.com/", None),
            ("https://api.example.com./", None),
            ("https://example.com/", Some(false)),
            ("api.example.com", None),
        ] {
            assert_eq!(host_in(address, "*.example.com").ok(), expected, "{address}");
        }
        assert!(host_in("https://a.com/", "a.com*").is_err());
    }
}
