//! Fields of Google's messages, which may be written in either of two ways.

use serde_json::Value;

use crate::model::problem::{VendorProblem, ensure};

/// The field `functionCall`, also where it is written `function_call`.
pub(crate) fn field<'a>(value: &'a Value, name: &str) -> &'a Value {
    match &value[name] {
        Value::Null => &value[snake(name)],
        found => found,
    }
}

/// Google refuses what it does not know, by name.
pub(crate) fn check_known(value: &Value, known: &[&str], place: &str) -> Result<(), VendorProblem> {
    let names = value.as_object().into_iter().flat_map(|fields| fields.keys());
    for name in names {
        let fits = known.iter().any(|known| name == known || *name == snake(known));
        ensure(fits, || {
            format!("Invalid JSON payload received. Unknown name \"{name}\" at '{place}'.")
        })?;
    }
    Ok(())
}

fn snake(name: &str) -> String {
    let mut snake = String::new();
    for character in name.chars() {
        if character.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(character.to_ascii_lowercase());
    }
    snake
}
