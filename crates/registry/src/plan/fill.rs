//! Fills the answers into a plan: the result is the exact configuration entry.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::plan::error::PlanError;
use crate::plan::install_plan::{InstallPlan, PlanBody, PlanItem};
use crate::plan::package::not_visited;
use crate::plan::question::RegistryQuestion;
use crate::plan::template::{Template, TemplatePiece};

/// Answers by the names of their questions.
pub type InstallAnswers = BTreeMap<String, Vec<String>>;

/// The exact command to run or URL to connect to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstallRecipe {
    how: RecipeKind,
    /// Secrets to store, by the names that the entry refers to.
    pub secrets: BTreeMap<String, String>,
    /// Names of environment variables for secrets in visible places.
    pub from_environment: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum RecipeKind {
    Command { command: RecipeText, args: Vec<RecipeText>, env: BTreeMap<String, RecipeText> },
    Remote { kind: &'static str, url: RecipeText, headers: BTreeMap<String, RecipeText> },
    Nothing,
}

/// A text in which secrets are references.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecipeText {
    parts: Vec<RecipePart>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum RecipePart {
    Plain(String),
    Kept(String),
    /// A secret from the environment: stored ones are allowed in variables and headers only.
    Outside(String),
}

/// Whether a text is visible to other processes, which determines where its secrets come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SecretPosition {
    Hidden,
    Visible,
}

impl InstallPlan {
    /// Checks the answers and fills them in.
    pub fn fill(&self, answers: &InstallAnswers) -> Result<InstallRecipe, PlanError> {
        // Unknown names first: a misspelled name explains why another answer is missing.
        if let Some(name) = answers.keys().find(|name| self.question(name).is_none()) {
            return Err(PlanError::NotAsked(name.clone()));
        }
        for (name, given) in answers {
            let asked = self.question(name).ok_or_else(|| PlanError::NotAsked(name.clone()))?;
            if given.len() > 1 && !asked.repeated {
                let why = "takes one value".to_owned();
                return Err(PlanError::DoesNotFit { name: name.clone(), why });
            }
            given.iter().try_for_each(|answer| asked.check(answer))?;
        }
        for asked in self.asked.iter().filter(|asked| asked.required) {
            if values(asked, answers).is_empty() {
                return Err(PlanError::Missing(asked.name.clone()));
            }
        }
        let mut filling =
            PlanFiller { plan: self, answers, secrets: BTreeMap::new(), outside: Vec::new() };
        let how = match &self.body {
            PlanBody::Command { command, args, env } => RecipeKind::Command {
                command: filling.text(command, SecretPosition::Visible)?.unwrap_or_default(),
                args: filling.words(args)?,
                env: filling.pairs(env)?,
            },
            PlanBody::Remote { kind, url, headers } => {
                let missing =
                    || PlanError::Missing(url.names().next().unwrap_or_default().to_owned());
                let url = filling.text(url, SecretPosition::Visible)?.ok_or_else(missing)?;
                // Again, with the answers: a variable may have been the host.
                self.reach.check(&url.with_secrets_as("x")).map_err(|why| not_visited(&why))?;
                RecipeKind::Remote { kind, url, headers: filling.pairs(headers)? }
            }
            PlanBody::Bundle { .. } => RecipeKind::Nothing,
        };
        Ok(InstallRecipe { how, secrets: filling.secrets, from_environment: filling.outside })
    }

    fn question(&self, name: &str) -> Option<&RegistryQuestion> {
        self.asked.iter().find(|asked| asked.name == name)
    }
}

fn values(asked: &RegistryQuestion, answers: &InstallAnswers) -> Vec<String> {
    match answers.get(&asked.name) {
        // An empty answer omits the value, even if there is a default.
        Some(given) => given.iter().filter(|answer| !answer.is_empty()).cloned().collect(),
        None => asked.default.iter().cloned().collect(),
    }
}

struct PlanFiller<'a> {
    plan: &'a InstallPlan,
    answers: &'a InstallAnswers,
    secrets: BTreeMap<String, String>,
    outside: Vec<String>,
}

impl PlanFiller<'_> {
    fn words(&mut self, items: &[PlanItem]) -> Result<Vec<RecipeText>, PlanError> {
        let mut words = Vec::new();
        for item in items {
            words.extend(self.item(item)?);
        }
        Ok(words)
    }

    /// Returns the words of an item, repeated for each answer; empty if the item is omitted.
    fn item(&mut self, item: &PlanItem) -> Result<Vec<RecipeText>, PlanError> {
        if let Some(when) = &item.when
            && self.first(when).as_deref() != Some("true")
        {
            return Ok(Vec::new());
        }
        if item.needs.iter().any(|name| self.first(name).is_none()) {
            return Ok(Vec::new());
        }
        if let Some(answers) = self.repeated_answers(item) {
            let mut words = Vec::new();
            for answer in answers {
                for word in &item.words {
                    let answered =
                        matches!(word.pieces.as_slice(), [TemplatePiece::RegistryQuestion(_)]);
                    let text = if answered {
                        RecipeText::plain(&answer)
                    } else {
                        self.required_text(word)?
                    };
                    words.push(text);
                }
            }
            return Ok(words);
        }
        let mut words = Vec::new();
        for word in &item.words {
            match self.text(word, SecretPosition::Visible)? {
                Some(text) => words.push(text),
                None if item.required => return Err(missing_answer(word)),
                // An option without its value would swallow the next argument.
                None => return Ok(Vec::new()),
            }
        }
        Ok(words)
    }

    /// Returns the answers of an item that is repeated for each of them.
    fn repeated_answers(&self, item: &PlanItem) -> Option<Vec<String>> {
        let name = item.words.iter().flat_map(Template::names).next()?;
        let asked = self.plan.question(name).filter(|asked| asked.repeated && !asked.secret)?;
        Some(values(asked, self.answers))
    }

    fn required_text(&mut self, word: &Template) -> Result<RecipeText, PlanError> {
        self.text(word, SecretPosition::Visible)?.ok_or_else(|| missing_answer(word))
    }

    fn pairs(
        &mut self,
        items: &[(String, PlanItem)],
    ) -> Result<BTreeMap<String, RecipeText>, PlanError> {
        let mut pairs = BTreeMap::new();
        for (name, item) in items {
            for word in &item.words {
                match self.text(word, SecretPosition::Hidden)? {
                    Some(text) => drop(pairs.insert(name.clone(), text)),
                    None if item.required => return Err(missing_answer(word)),
                    None => {}
                }
            }
        }
        Ok(pairs)
    }

    /// Returns the text; `None` if one of its answers is missing.
    fn text(
        &mut self,
        template: &Template,
        place: SecretPosition,
    ) -> Result<Option<RecipeText>, PlanError> {
        let mut parts = Vec::new();
        for piece in &template.pieces {
            let name = match piece {
                TemplatePiece::Text(text) => {
                    parts.push(RecipePart::Plain(text.clone()));
                    continue;
                }
                TemplatePiece::RegistryQuestion(name) => name,
            };
            let Some(value) = self.first(name) else { return Ok(None) };
            let is_secret = self.plan.question(name).is_some_and(|asked| asked.secret);
            // A default is published, so it is not a secret.
            if !is_secret || !self.answers.contains_key(name) {
                parts.push(RecipePart::Plain(value));
                continue;
            }
            // Different questions may have the same name here, such as `api-key` and `api_key`.
            let kept = secret_name(name);
            match place {
                SecretPosition::Hidden => {
                    if self.secrets.get(&kept).is_some_and(|other| *other != value) {
                        let why = "conflicts with another secret of the same name".to_owned();
                        return Err(PlanError::DoesNotFit { name: name.clone(), why });
                    }
                    self.secrets.insert(kept.clone(), value);
                    parts.push(RecipePart::Kept(kept));
                }
                SecretPosition::Visible => {
                    if !self.outside.contains(&kept) {
                        self.outside.push(kept.clone());
                    }
                    parts.push(RecipePart::Outside(kept));
                }
            }
        }
        Ok(Some(RecipeText { parts }))
    }

    fn first(&self, name: &str) -> Option<String> {
        let asked = self.plan.question(name)?;
        values(asked, self.answers).into_iter().next()
    }
}

fn missing_answer(word: &Template) -> PlanError {
    PlanError::Missing(word.names().next().unwrap_or_default().to_owned())
}

/// Converts the name of a question to a valid name of a secret.
fn secret_name(name: &str) -> String {
    let fits = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let plain: String = name.chars().map(fits).collect();
    if plain.starts_with(|c: char| c.is_ascii_digit()) { format!("_{plain}") } else { plain }
}

impl RecipeText {
    fn plain(text: &str) -> Self {
        Self { parts: vec![RecipePart::Plain(text.to_owned())] }
    }

    fn to_entry_text(&self) -> String {
        let written = |part: &RecipePart| match part {
            // Escaped, so that an answer or a default cannot refer to variables or secrets.
            RecipePart::Plain(text) => text.replace("${", "$${"),
            RecipePart::Kept(name) => format!("${{keyring:{name}}}"),
            RecipePart::Outside(name) => format!("${{{name}}}"),
        };
        self.parts.iter().map(written).collect()
    }

    fn with_secrets_as(&self, stand_in: &str) -> String {
        let shown = |part: &RecipePart| match part {
            RecipePart::Plain(text) => text.clone(),
            RecipePart::Kept(_) | RecipePart::Outside(_) => stand_in.to_owned(),
        };
        self.parts.iter().map(shown).collect()
    }
}

impl InstallRecipe {
    /// Returns the configuration entry.
    #[must_use]
    pub fn entry(&self) -> Map<String, Value> {
        let pairs = |pairs: &BTreeMap<String, RecipeText>| {
            pairs
                .iter()
                .map(|(name, text)| (name.clone(), json!(text.to_entry_text())))
                .collect::<Map<_, _>>()
        };
        let mut entry = Map::new();
        match &self.how {
            RecipeKind::Command { command, args, env } => {
                entry.insert("command".to_owned(), json!(command.to_entry_text()));
                let args: Vec<String> = args.iter().map(RecipeText::to_entry_text).collect();
                entry.insert("args".to_owned(), json!(args));
                if !env.is_empty() {
                    entry.insert("env".to_owned(), Value::Object(pairs(env)));
                }
            }
            RecipeKind::Remote { kind, url, headers } => {
                entry.insert("type".to_owned(), json!(kind));
                entry.insert("url".to_owned(), json!(url.to_entry_text()));
                if !headers.is_empty() {
                    entry.insert("headers".to_owned(), Value::Object(pairs(headers)));
                }
            }
            RecipeKind::Nothing => {}
        }
        entry
    }

    /// Returns whether the recipe connects to a URL.
    #[must_use]
    pub const fn is_remote(&self) -> bool {
        matches!(self.how, RecipeKind::Remote { .. })
    }

    /// Returns the words of the command or the URL, with secrets as references.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        match &self.how {
            RecipeKind::Command { command, args, .. } => {
                std::iter::once(command).chain(args).map(RecipeText::to_entry_text).collect()
            }
            RecipeKind::Remote { url, .. } => vec![url.to_entry_text()],
            RecipeKind::Nothing => Vec::new(),
        }
    }

    /// Returns the variables or headers, with secrets as references.
    #[must_use]
    pub fn pairs(&self) -> Vec<(String, String)> {
        let (RecipeKind::Command { env: pairs, .. } | RecipeKind::Remote { headers: pairs, .. }) =
            &self.how
        else {
            return Vec::new();
        };
        pairs.iter().map(|(name, text)| (name.clone(), text.to_entry_text())).collect()
    }
}

#[cfg(test)]
#[path = "fill_tests.rs"]
mod tests;
