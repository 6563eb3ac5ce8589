//! A plan with the answers put in: what is written into the configuration, to the letter.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::plan::error::PlanError;
use crate::plan::input::Asked;
use crate::plan::plan_type::{Body, Item, Plan};
use crate::plan::remote::not_visited;
use crate::plan::template::{Piece, Template};

/// What a person answered, by the names of the questions.
pub type Answers = BTreeMap<String, Vec<String>>;

/// Exactly what will be run or visited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipe {
    how: How,
    /// Secrets to be kept, by the names under which the entry refers to them.
    pub secrets: BTreeMap<String, String>,
    /// Names of variables of the environment that hold secrets which stand in plain sight.
    pub from_environment: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum How {
    Command { command: Text, args: Vec<Text>, env: BTreeMap<String, Text> },
    Remote { kind: &'static str, url: Text, headers: BTreeMap<String, Text> },
    Nothing,
}

/// A text whose secrets are names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Plain(String),
    /// A secret of the store.
    Kept(String),
    /// A secret that is taken from the environment: the store fills only variables and headers.
    Outside(String),
}

/// Where a text stands, which decides where a secret in it can come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Hidden,
    Visible,
}

impl Plan {
    /// Puts the answers in.
    ///
    /// # Errors
    /// When one is missing, does not fit, or nobody asked for it.
    pub fn fill(&self, answers: &Answers) -> Result<Recipe, PlanError> {
        if let Some(name) = answers.keys().find(|name| self.asked(name).is_none()) {
            return Err(PlanError::NotAsked(name.clone()));
        }
        for (name, given) in answers {
            let asked = self.asked(name).ok_or_else(|| PlanError::NotAsked(name.clone()))?;
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
            Filling { plan: self, answers, secrets: BTreeMap::new(), outside: Vec::new() };
        let how = match &self.body {
            Body::Command { command, args, env } => How::Command {
                command: filling.text(command, Place::Visible)?.unwrap_or_default(),
                args: filling.words(args)?,
                env: filling.pairs(env)?,
            },
            Body::Remote { kind, url, headers } => {
                let missing =
                    || PlanError::Missing(url.names().next().unwrap_or_default().to_owned());
                let url = filling.text(url, Place::Visible)?.ok_or_else(missing)?;
                self.reach.check(&url.with_secrets_as("x")).map_err(|why| not_visited(&why))?;
                How::Remote { kind, url, headers: filling.pairs(headers)? }
            }
            Body::Bundle { .. } => How::Nothing,
        };
        Ok(Recipe { how, secrets: filling.secrets, from_environment: filling.outside })
    }

    fn asked(&self, name: &str) -> Option<&Asked> {
        self.asked.iter().find(|asked| asked.name == name)
    }
}

/// What was answered, or what holds where nothing was.
fn values(asked: &Asked, answers: &Answers) -> Vec<String> {
    match answers.get(&asked.name) {
        Some(given) => given.iter().filter(|answer| !answer.is_empty()).cloned().collect(),
        None => asked.default.iter().cloned().collect(),
    }
}

struct Filling<'a> {
    plan: &'a Plan,
    answers: &'a Answers,
    secrets: BTreeMap<String, String>,
    outside: Vec<String>,
}

impl Filling<'_> {
    fn words(&mut self, items: &[Item]) -> Result<Vec<Text>, PlanError> {
        let mut words = Vec::new();
        for item in items {
            words.extend(self.item(item)?);
        }
        Ok(words)
    }

    /// The words of an item; none if it is left out. One with several answers comes several times.
    fn item(&mut self, item: &Item) -> Result<Vec<Text>, PlanError> {
        if let Some(when) = &item.when
            && self.first(when).as_deref() != Some("true")
        {
            return Ok(Vec::new());
        }
        if item.needs.iter().any(|name| self.first(name).is_none()) {
            return Ok(Vec::new());
        }
        if let Some(answers) = self.repeated(item) {
            let mut words = Vec::new();
            for answer in answers {
                for word in &item.words {
                    let answered = matches!(word.pieces.as_slice(), [Piece::Asked(_)]);
                    let text = if answered { Text::plain(&answer) } else { self.must(word)? };
                    words.push(text);
                }
            }
            return Ok(words);
        }
        let mut words = Vec::new();
        for word in &item.words {
            match self.text(word, Place::Visible)? {
                Some(text) => words.push(text),
                None if item.required => return Err(missing(word)),
                None => return Ok(Vec::new()),
            }
        }
        Ok(words)
    }

    /// The answers of an item that comes once for each of them.
    fn repeated(&self, item: &Item) -> Option<Vec<String>> {
        let name = item.words.iter().flat_map(Template::names).next()?;
        let asked = self.plan.asked(name).filter(|asked| asked.repeated && !asked.secret)?;
        Some(values(asked, self.answers))
    }

    fn must(&mut self, word: &Template) -> Result<Text, PlanError> {
        self.text(word, Place::Visible)?.ok_or_else(|| missing(word))
    }

    fn pairs(&mut self, items: &[(String, Item)]) -> Result<BTreeMap<String, Text>, PlanError> {
        let mut pairs = BTreeMap::new();
        for (name, item) in items {
            for word in &item.words {
                match self.text(word, Place::Hidden)? {
                    Some(text) => drop(pairs.insert(name.clone(), text)),
                    None if item.required => return Err(missing(word)),
                    None => {}
                }
            }
        }
        Ok(pairs)
    }

    /// The text; nothing if an answer in it is missing.
    fn text(&mut self, template: &Template, place: Place) -> Result<Option<Text>, PlanError> {
        let mut parts = Vec::new();
        for piece in &template.pieces {
            let name = match piece {
                Piece::Text(text) => {
                    parts.push(Part::Plain(text.clone()));
                    continue;
                }
                Piece::Asked(name) => name,
            };
            let Some(value) = self.first(name) else { return Ok(None) };
            let is_secret = self.plan.asked(name).is_some_and(|asked| asked.secret);
            // A default is published, so it is nobody's secret.
            if !is_secret || !self.answers.contains_key(name) {
                parts.push(Part::Plain(value));
                continue;
            }
            let kept = secret_name(name);
            match place {
                Place::Hidden => {
                    if self.secrets.get(&kept).is_some_and(|other| *other != value) {
                        let why = "has the name of another secret".to_owned();
                        return Err(PlanError::DoesNotFit { name: name.clone(), why });
                    }
                    self.secrets.insert(kept.clone(), value);
                    parts.push(Part::Kept(kept));
                }
                Place::Visible => {
                    if !self.outside.contains(&kept) {
                        self.outside.push(kept.clone());
                    }
                    parts.push(Part::Outside(kept));
                }
            }
        }
        Ok(Some(Text { parts }))
    }

    fn first(&self, name: &str) -> Option<String> {
        let asked = self.plan.asked(name)?;
        values(asked, self.answers).into_iter().next()
    }
}

fn missing(word: &Template) -> PlanError {
    PlanError::Missing(word.names().next().unwrap_or_default().to_owned())
}

/// The name of a question as a name of a secret.
fn secret_name(name: &str) -> String {
    let fits = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let plain: String = name.chars().map(fits).collect();
    if plain.starts_with(|c: char| c.is_ascii_digit()) { format!("_{plain}") } else { plain }
}

impl Text {
    fn plain(text: &str) -> Self {
        Self { parts: vec![Part::Plain(text.to_owned())] }
    }

    /// As an entry of the configuration has it: nothing of it is taken for a reference but ours.
    fn written(&self) -> String {
        let written = |part: &Part| match part {
            Part::Plain(text) => text.replace("${", "$${"),
            Part::Kept(name) => format!("${{keyring:{name}}}"),
            Part::Outside(name) => format!("${{{name}}}"),
        };
        self.parts.iter().map(written).collect()
    }

    fn with_secrets_as(&self, stand_in: &str) -> String {
        let shown = |part: &Part| match part {
            Part::Plain(text) => text.clone(),
            Part::Kept(_) | Part::Outside(_) => stand_in.to_owned(),
        };
        self.parts.iter().map(shown).collect()
    }
}

impl Recipe {
    /// The entry of the configuration.
    #[must_use]
    pub fn entry(&self) -> Map<String, Value> {
        let pairs = |pairs: &BTreeMap<String, Text>| {
            pairs
                .iter()
                .map(|(name, text)| (name.clone(), json!(text.written())))
                .collect::<Map<_, _>>()
        };
        let mut entry = Map::new();
        match &self.how {
            How::Command { command, args, env } => {
                entry.insert("command".to_owned(), json!(command.written()));
                let args: Vec<String> = args.iter().map(Text::written).collect();
                entry.insert("args".to_owned(), json!(args));
                if !env.is_empty() {
                    entry.insert("env".to_owned(), Value::Object(pairs(env)));
                }
            }
            How::Remote { kind, url, headers } => {
                entry.insert("type".to_owned(), json!(kind));
                entry.insert("url".to_owned(), json!(url.written()));
                if !headers.is_empty() {
                    entry.insert("headers".to_owned(), Value::Object(pairs(headers)));
                }
            }
            How::Nothing => {}
        }
        entry
    }

    /// Whether it is an address and not a command.
    #[must_use]
    pub const fn is_remote(&self) -> bool {
        matches!(self.how, How::Remote { .. })
    }

    /// The words of the command or the address, with secrets as their references.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        match &self.how {
            How::Command { command, args, .. } => {
                std::iter::once(command).chain(args).map(Text::written).collect()
            }
            How::Remote { url, .. } => vec![url.written()],
            How::Nothing => Vec::new(),
        }
    }

    /// The variables or headers, with secrets as their references.
    #[must_use]
    pub fn pairs(&self) -> Vec<(String, String)> {
        let (How::Command { env: pairs, .. } | How::Remote { headers: pairs, .. }) = &self.how
        else {
            return Vec::new();
        };
        pairs.iter().map(|(name, text)| (name.clone(), text.written())).collect()
    }
}

#[cfg(test)]
#[path = "fill_tests.rs"]
mod tests;
