//! Parses the arguments of a call; errors name the invalid parameter.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use crate::display_text;
use crate::error::ToolRefusal;

#[derive(Debug)]
pub(crate) struct ToolArguments {
    values: Map<String, Value>,
}

impl ToolArguments {
    pub(crate) fn parse(values: Map<String, Value>, known: &[&str]) -> Result<Self, ToolRefusal> {
        match values.keys().find(|name| !known.contains(&name.as_str())) {
            None => Ok(Self { values }),
            // Ignored silently, a misspelled parameter would give a wrong result.
            Some(name) => {
                let names: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
                Err(ToolRefusal::parameter(name, "is unknown")
                    .with_hint(format!("this tool takes {}", names.join(", "))))
            }
        }
    }

    pub(crate) fn text(&self, name: &str) -> Result<&str, ToolRefusal> {
        self.optional_text(name)?
            .ok_or_else(|| ToolRefusal::parameter(name, "is required and must be a string"))
    }

    pub(crate) fn optional_text(&self, name: &str) -> Result<Option<&str>, ToolRefusal> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(wrong_value(name, "must be a string", other)),
        }
    }

    pub(crate) fn whole_number(
        &self,
        name: &str,
        within: RangeInclusive<u64>,
        otherwise: u64,
    ) -> Result<u64, ToolRefusal> {
        let Some(value) = self.get(name) else { return Ok(otherwise) };
        as_whole(value).filter(|number| within.contains(number)).ok_or_else(|| {
            let rule =
                format!("must be a whole number from {} to {}", within.start(), within.end());
            wrong_value(name, &rule, value)
        })
    }

    pub(crate) fn flag(&self, name: &str) -> Result<bool, ToolRefusal> {
        match self.get(name) {
            None => Ok(false),
            Some(Value::Bool(on)) => Ok(*on),
            Some(other) => Err(wrong_value(name, "must be true or false", other)),
        }
    }

    fn get(&self, name: &str) -> Option<&Value> {
        // Models write `null` for omitted arguments.
        self.values.get(name).filter(|value| !value.is_null())
    }
}

fn as_whole(value: &Value) -> Option<u64> {
    // Above 2^53, a float no longer identifies one integer.
    const LARGEST_EXACT: f64 = 9_007_199_254_740_992.0;
    // JSON Schema counts `3.0` as an integer.
    value.as_u64().or_else(|| {
        let number = value.as_f64()?;
        let exact = number.fract() == 0.0 && (0.0..=LARGEST_EXACT).contains(&number);
        exact.then(|| format!("{number:.0}").parse().ok()).flatten()
    })
}

fn wrong_value(name: &str, rule: &str, value: &Value) -> ToolRefusal {
    let got = match value {
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        other => format!("`{}`", display_text::brief(&other.to_string())),
    };
    ToolRefusal::parameter(name, &format!("{rule}, not {got}"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::ToolArguments;

    fn arguments(value: Value) -> ToolArguments {
        let Value::Object(values) = value else { panic!("cases are objects") };
        ToolArguments { values }
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
            let got = arguments(json!({ "n": value })).whole_number("n", 1..=9, 7);
            assert_eq!(got.map_err(|refusal| refusal.message), expected.map_err(str::to_owned));
        }
    }
}
