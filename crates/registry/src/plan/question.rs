//! Questions to answer before a server can be added.

use schemars::JsonSchema;
use serde::Serialize;

use crate::plan::error::PlanError;
use crate::server_json::ValueInput;

/// One question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RegistryQuestion {
    /// By which name it is answered.
    pub name: String,
    /// What it is for, in the publisher's words.
    pub description: Option<String>,
    /// Whether the server cannot do without it.
    pub required: bool,
    /// Whether nobody else may see the answer.
    pub secret: bool,
    /// What holds where nothing is answered.
    pub default: Option<String>,
    /// What the answer may be; anything without a list.
    pub choices: Vec<String>,
    /// What kind of value it is.
    pub format: AnswerFormat,
    /// What an answer could look like.
    pub placeholder: Option<String>,
    /// Whether there may be several answers.
    pub repeated: bool,
    /// The smallest number, as it is written.
    pub min: Option<String>,
    /// The largest number, as it is written.
    pub max: Option<String>,
}

/// What kind of value an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnswerFormat {
    /// Any text.
    #[default]
    Text,
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// A file or a folder.
    Path,
}

impl AnswerFormat {
    pub(crate) fn from_word(word: Option<&str>) -> Self {
        match word {
            Some("number" | "integer") => Self::Number,
            Some("boolean") => Self::Boolean,
            Some("filepath" | "file" | "directory" | "path") => Self::Path,
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
        if answer.chars().any(char::is_control) {
            return wrong("has a control character in it");
        }
        if !self.choices.is_empty() && !self.choices.iter().any(|choice| choice == answer) {
            return wrong(&format!("must be one of `{}`", self.choices.join("`, `")));
        }
        let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
        let limit = |limit: &Option<String>| limit.as_deref().and_then(number);
        if let (AnswerFormat::Number, Some(given)) = (self.format, number(answer)) {
            if limit(&self.min).is_some_and(|min| given < min) {
                return wrong(&format!(
                    "must be at least {}",
                    self.min.as_deref().unwrap_or_default()
                ));
            }
            if limit(&self.max).is_some_and(|max| given > max) {
                return wrong(&format!(
                    "must be at most {}",
                    self.max.as_deref().unwrap_or_default()
                ));
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
