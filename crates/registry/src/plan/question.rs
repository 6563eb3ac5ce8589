//! Questions to answer before a server can be added.

use schemars::JsonSchema;
use serde::Serialize;

use crate::plan::error::PlanError;
use crate::server_json::ValueInput;

/// A question to answer before a server can be added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RegistryQuestion {
    /// Name under which the answer is given.
    pub name: String,
    /// Purpose of the value, as described by the publisher.
    pub description: Option<String>,
    /// Whether the server requires an answer.
    pub required: bool,
    /// Whether the answer is a secret.
    pub secret: bool,
    /// Value that is used without an answer.
    pub default: Option<String>,
    /// Permitted answers; empty if any is permitted.
    pub choices: Vec<String>,
    /// Format that the answer must have.
    pub format: AnswerFormat,
    /// An example of an answer.
    pub placeholder: Option<String>,
    /// Whether several answers are permitted.
    pub repeated: bool,
    /// Minimum of a number, as written by the publisher.
    pub min: Option<String>,
    /// Maximum of a number, as written by the publisher.
    pub max: Option<String>,
}

/// The format of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnswerFormat {
    /// Any text on one line.
    #[default]
    Text,
    /// A whole or decimal number.
    Number,
    /// The word `true` or `false`.
    Boolean,
    /// The path of a file or folder.
    Path,
}

impl AnswerFormat {
    pub(crate) fn from_word(word: Option<&str>) -> Self {
        match word {
            Some("number" | "integer") => Self::Number,
            Some("boolean") => Self::Boolean,
            Some("filepath" | "file" | "directory" | "path") => Self::Path,
            // An unknown format must not make the server uninstallable.
            Some(_) | None => Self::Text,
        }
    }
}

impl RegistryQuestion {
    pub(crate) fn from_input(name: &str, input: &ValueInput) -> Self {
        Self {
            name: name.to_owned(),
            description: input.description.clone(),
            required: input.is_required,
            secret: input.is_secret,
            default: input.default.clone(),
            choices: input.choices.clone(),
            format: AnswerFormat::from_word(input.format.as_deref()),
            placeholder: input.placeholder.clone(),
            repeated: false,
            min: None,
            max: None,
        }
    }

    pub(crate) fn check(&self, answer: &str) -> Result<(), PlanError> {
        let wrong =
            |why: &str| Err(PlanError::DoesNotFit { name: self.name.clone(), why: why.to_owned() });
        // A line break could add a header or a second argument.
        if answer.chars().any(char::is_control) {
            return wrong("contains a control character");
        }
        if !self.choices.is_empty() && !self.choices.iter().any(|choice| choice == answer) {
            return wrong(&format!("must be one of `{}`", self.choices.join("`, `")));
        }
        let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
        let limit = |limit: &Option<String>| limit.as_deref().and_then(number);
        if let (AnswerFormat::Number, Some(given)) = (self.format, number(answer)) {
            if limit(&self.min).is_some_and(|min| given < min) {
                let min = self.min.as_deref().unwrap_or_default();
                return wrong(&format!("must be at least {min}"));
            }
            if limit(&self.max).is_some_and(|max| given > max) {
                let max = self.max.as_deref().unwrap_or_default();
                return wrong(&format!("must be at most {max}"));
            }
        }
        match self.format {
            AnswerFormat::Number if number(answer).is_none() => wrong("must be a number"),
            AnswerFormat::Boolean if !matches!(answer, "true" | "false") => {
                wrong("must be `true` or `false`")
            }
            AnswerFormat::Text
            | AnswerFormat::Number
            | AnswerFormat::Boolean
            | AnswerFormat::Path => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_must_be_of_its_kind() {
        let asked = |format: AnswerFormat, choices: &[&str]| RegistryQuestion {
            format,
            choices: choices.iter().map(|choice| (*choice).to_owned()).collect(),
            ..RegistryQuestion::from_input("x", &ValueInput::default())
        };
        let between = |min: &str, max: &str| RegistryQuestion {
            min: Some(min.to_owned()),
            max: Some(max.to_owned()),
            ..asked(AnswerFormat::Number, &[])
        };
        for (asked, answer, fits) in [
            (asked(AnswerFormat::Text, &[]), "any thing", true),
            (asked(AnswerFormat::Text, &[]), "a\nb", false),
            (asked(AnswerFormat::Text, &[]), "a\u{1b}[31m", false),
            (asked(AnswerFormat::Number, &[]), "8.5", true),
            (asked(AnswerFormat::Number, &[]), "eight", false),
            (asked(AnswerFormat::Number, &[]), "inf", false),
            (between("1", "9"), "9", true),
            (between("1", "9"), "9.1", false),
            (between("1", "9"), "-2", false),
            (asked(AnswerFormat::Boolean, &[]), "true", true),
            (asked(AnswerFormat::Boolean, &[]), "yes", false),
            (asked(AnswerFormat::Text, &["a", "b"]), "b", true),
            (asked(AnswerFormat::Text, &["a", "b"]), "c", false),
        ] {
            assert_eq!(asked.check(answer).is_ok(), fits, "{asked:?} {answer:?}");
        }
    }
}
