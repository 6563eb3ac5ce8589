//! Reads the arguments of a call one by one and names the parameter that is wrong.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use crate::display_text;
use crate::error::Refusal;

/// The arguments of one call.
#[derive(Debug)]
pub(crate) struct Arguments {
    values: Map<String, Value>,
}

impl Arguments {
    /// Takes the arguments if the tool knows every one of them.
    pub(crate) fn checked(values: Map<String, Value>, known: &[&str]) -> Result<Self, Refusal> {
        match values.keys().find(|name| !known.contains(&name.as_str())) {
            None => Ok(Self { values }),
            Some(name) => {
                let names: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
                Err(Refusal::parameter(name, "is not known")
                    .hint(format!("this tool takes {}", names.join(", "))))
            }
        }
    }

    /// A text that has to be there.
    pub(crate) fn text(&self, name: &str) -> Result<&str, Refusal> {
        self.optional_text(name)?
            .ok_or_else(|| Refusal::parameter(name, "is missing; it is required and is a text"))
    }

    /// A text that may be left out.
    pub(crate) fn optional_text(&self, name: &str) -> Result<Option<&str>, Refusal> {
        match self.given(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(wrong(name, "must be a text", other)),
        }
    }

    /// A whole number within limits, or what to take when it was left out.
    pub(crate) fn whole(
        &self,
        name: &str,
        within: RangeInclusive<u64>,
        otherwise: u64,
    ) -> Result<u64, Refusal> {
        let Some(value) = self.given(name) else { return Ok(otherwise) };
        as_whole(value).filter(|number| within.contains(number)).ok_or_else(|| {
            let rule =
                format!("must be a whole number from {} to {}", within.start(), within.end());
            wrong(name, &rule, value)
        })
    }

    /// A switch that is off unless it was turned on.
    pub(crate) fn flag(&self, name: &str) -> Result<bool, Refusal> {
        match self.given(name) {
            None => Ok(false),
            Some(Value::Bool(on)) => Ok(*on),
            Some(other) => Err(wrong(name, "must be true or false", other)),
        }
    }

    /// Models write null for what they leave out, so null counts as left out.
    fn given(&self, name: &str) -> Option<&Value> {
        self.values.get(name).filter(|value| !value.is_null())
    }
}

/// JSON Schema counts `3.0` as an integer, so this does too.
fn as_whole(value: &Value) -> Option<u64> {
    const LARGEST_EXACT: f64 = 9_007_199_254_740_992.0;
    value.as_u64().or_else(|| {
        let number = value.as_f64()?;
        let exact = number.fract() == 0.0 && (0.0..=LARGEST_EXACT).contains(&number);
        exact.then(|| format!("{number:.0}").parse().ok()).flatten()
    })
}

fn wrong(name: &str, rule: &str, value: &Value) -> Refusal {
    let got = match value {
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        other => format!("`{}`", display_text::brief(&other.to_string())),
    };
    Refusal::parameter(name, &format!("{rule}, not {got}"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Arguments;

    fn arguments(value: Value) -> Arguments {
        let Value::Object(values) = value else { panic!("cases are objects") };
        Arguments { values }
    }

    #[test]
    fn whole_numbers_are_taken_as_json_schema_counts_them() {
        for (value, expected) in [
            (json!(3), Ok(3)),
            (json!(3.0), Ok(3)),
            (json!(null), Ok(7)),
            (json!(0), Err("parameter `n` must be a whole number from 1 to 9, not `0`")),
            (json!(-1), Err("parameter `n` must be a whole number from 1 to 9, not `-1`")),
            (json!(2.5), Err("parameter `n` must be a whole number from 1 to 9, not `2.5`")),
            (json!(1e300), Err("parameter `n` must be a whole number from 1 to 9, not `1e+300`")),
            (json!("3"), Err("parameter `n` must be a whole number from 1 to 9, not `\"3\"`")),
            (json!([3]), Err("parameter `n` must be a whole number from 1 to 9, not a list")),
        ] {
            let got = arguments(json!({ "n": value })).whole("n", 1..=9, 7);
            assert_eq!(got.map_err(|refusal| refusal.message), expected.map_err(str::to_owned));
        }
    }
}
