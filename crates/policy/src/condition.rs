//! Decides conditions about a call: what they speak of is made once, and only if they do.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, LazyLock};

use cel::objects::{Key, Map};
use cel::{Context, Env, Value};
use serde_json::Value as Json;
use switchboard_core::TargetKind;
use switchboard_rules::{Effect, Expression, SESSION_WITH_RESULTS};
use switchboard_text::characters::{is_hidden, is_selector};

use crate::facts::Facts;
use crate::functions;
use crate::functions::Patterns;
use crate::risk::risk_of;

static LANGUAGE: LazyLock<Arc<Env>> = LazyLock::new(|| Arc::new(Env::stdlib()));

/// The conditions of one call.
pub(crate) struct Conditions<'a> {
    facts: &'a Facts<'a>,
    patterns: &'a Arc<Patterns>,
    /// What is sent.
    sent: Spoken,
    /// The arguments as they read, if that is something else; looked at when it is needed.
    plain: Option<Option<String>>,
    read: Spoken,
}

/// What conditions speak of, as far as it was needed.
#[derive(Default)]
struct Spoken {
    context: Option<Context<'static, 'static>>,
    made: BTreeSet<&'static str>,
}

impl<'a> Conditions<'a> {
    pub(crate) fn of(facts: &'a Facts<'a>, patterns: &'a Arc<Patterns>) -> Self {
        Self { facts, patterns, sent: Spoken::default(), plain: None, read: Spoken::default() }
    }

    /// Whether the condition of a rule with this effect holds. Arguments with characters that cannot
    /// be seen are looked at without them as well: an `allow` needs both to fit, others one of them.
    ///
    /// # Errors
    /// When that cannot be said, such as for an argument that is missing or of another type.
    pub(crate) fn hold(&mut self, expression: &Expression, effect: Effect) -> Result<bool, String> {
        let holds = self.sent.hold(self.facts, expression, self.patterns)?;
        let is_settled = holds != (effect == Effect::Allow);
        let looks_at_them =
            expression.variables().iter().any(|name| ["args", "risk"].contains(name));
        if is_settled || !looks_at_them {
            return Ok(holds);
        }
        let plain = self.plain.get_or_insert_with(|| without_hidden(self.facts.arguments));
        let Some(arguments) = plain else { return Ok(holds) };
        self.read.hold(&Facts { arguments, ..*self.facts }, expression, self.patterns)
    }
}

impl Spoken {
    fn hold(
        &mut self,
        facts: &Facts<'_>,
        expression: &Expression,
        patterns: &Arc<Patterns>,
    ) -> Result<bool, String> {
        let context = self.context.get_or_insert_with(|| {
            let mut context = Context::with_env(Arc::clone(&LANGUAGE));
            functions::add_to(&mut context, patterns);
            context
        });
        for name in expression.variables() {
            if self.made.insert(name) {
                let value = variable(facts, name)?;
                if *name == SESSION_WITH_RESULTS {
                    // It has all that the one without them has, and is not replaced by that.
                    self.made.insert("session");
                    context.add_variable_from_value("session", value);
                } else {
                    context.add_variable_from_value(*name, value);
                }
            }
        }
        match expression.program().execute(context) {
            Ok(Value::Bool(holds)) => Ok(holds),
            Ok(other) => Err(format!("it gives a {} instead of true or false", other.type_of())),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// The arguments without what cannot be seen; none if there is nothing of that.
fn without_hidden(arguments: &str) -> Option<String> {
    // A code of JSON may stand for anything.
    if arguments.is_ascii() && !arguments.contains('\\') {
        return None;
    }
    let sent: Json = serde_json::from_str(arguments).ok()?;
    let plain = plain(&sent);
    (plain != sent).then(|| plain.to_string())
}

fn plain(json: &Json) -> Json {
    let hides = |c: char| {
        is_hidden(c) || is_selector(c) || c.is_control() && !matches!(c, '\n' | '\t' | '\r')
    };
    let seen = |text: &str| text.chars().filter(|c| !hides(*c)).collect::<String>();
    match json {
        Json::String(text) => Json::String(seen(text)),
        Json::Array(items) => items.iter().map(plain).collect(),
        Json::Object(members) => {
            members.iter().map(|(name, value)| (seen(name), plain(value))).collect()
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => json.clone(),
    }
}

fn variable(facts: &Facts<'_>, name: &str) -> Result<Value, String> {
    Ok(match name {
        "args" => arguments(facts)?,
        "tool" => {
            let annotations = facts.annotations.text().map(serde_json::from_str::<Json>);
            let annotations = match annotations {
                Some(Ok(value @ Json::Object(_))) => value_of(&value),
                Some(_) | None => map([]),
            };
            map([
                ("name", Value::from(facts.target.name.as_str())),
                ("kind", Value::from(facts.target.kind.as_str())),
                ("readOnly", Value::Bool(facts.read_only)),
                ("annotations", annotations),
            ])
        }
        "server" => map([
            ("name", Value::from(facts.target.server.as_str())),
            ("transport", Value::from(facts.transport)),
            ("trusted", Value::Bool(facts.trusted)),
        ]),
        "caller" => map([
            ("face", Value::from(facts.caller.face.to_string())),
            ("origin", Value::from(facts.caller.origin.to_string())),
            ("name", Value::from(facts.caller.name.as_str())),
        ]),
        "session" | SESSION_WITH_RESULTS => {
            let reads: Vec<&str> = facts.session.reads.iter().map(AsRef::as_ref).collect();
            let number = |number: u64| Value::Int(i64::try_from(number).unwrap_or(i64::MAX));
            let times = facts.session.times();
            let times = times.map(|(server, times)| (key(server), number(times))).collect();
            let mut members = vec![
                ("reads", Value::from(reads)),
                ("times", Value::Map(Map { map: Arc::new(times) })),
                ("calls", number(facts.session.calls)),
                ("tainted", Value::Bool(facts.tainted_by().is_some())),
            ];
            if name == SESSION_WITH_RESULTS {
                let times = facts.session.results.times();
                let times = times.ok_or("more was read in this session than is kept count of")?;
                let times = times.map(|(name, times)| (key(name), number(times)));
                members.push(("results", Value::Map(Map { map: Arc::new(times.collect()) })));
            }
            map(members)
        }
        "risk" => {
            let risk = risk_of(facts);
            map([("score", Value::Int(risk.score.into())), ("reasons", Value::from(risk.reasons))])
        }
        other => return Err(format!("there is no `{other}`")),
    })
}

/// Exactly what is sent: of a resource its address.
fn arguments(facts: &Facts<'_>) -> Result<Value, String> {
    if facts.target.kind == TargetKind::Resource {
        return Ok(map([("uri", Value::from(facts.target.name.as_str()))]));
    }
    let parsed: Json = serde_json::from_str(facts.arguments)
        .map_err(|error| format!("the arguments cannot be read: {error}"))?;
    Ok(value_of(&parsed))
}

fn map<'n>(members: impl IntoIterator<Item = (&'n str, Value)>) -> Value {
    let members = members.into_iter().map(|(name, value)| (key(name), value));
    Value::Map(Map { map: Arc::new(members.collect()) })
}

fn key(name: &str) -> Key {
    Key::String(Arc::new(name.to_owned()))
}

/// A JSON value as conditions see it: whole numbers are whole, others are not.
fn value_of(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(whole), _) => Value::Int(whole),
            (None, Some(whole)) => Value::UInt(whole),
            (None, None) => number.as_f64().map_or(Value::Null, Value::Float),
        },
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(items) => Value::from(items.iter().map(value_of).collect::<Vec<_>>()),
        Json::Object(members) => {
            let members: HashMap<Key, Value> =
                members.iter().map(|(name, value)| (key(name), value_of(value))).collect();
            Value::Map(Map { map: Arc::new(members) })
        }
    }
}
