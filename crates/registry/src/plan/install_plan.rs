//! `InstallPlan`: what adding a server would run or connect to, before questions are answered.

use std::collections::BTreeMap;

use crate::client::RegistryReach;
use crate::plan::error::PlanError;
use crate::plan::question::RegistryQuestion;
use crate::plan::template::Template;
use crate::server_json::{RegistryRemote, ValueInput};

/// The command or URL of a server, and the questions to ask first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstallPlan {
    pub body: PlanBody,
    /// The questions, in the order in which their answers are used.
    pub asked: Vec<RegistryQuestion>,
    pub notes: Vec<String>,
    pub(crate) reach: RegistryReach,
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanBody {
    Command {
        command: Template,
        args: Vec<PlanItem>,
        env: Vec<(String, PlanItem)>,
    },
    Remote {
        kind: &'static str,
        url: Template,
        headers: Vec<(String, PlanItem)>,
    },
    /// A bundle to fetch, whose own manifest determines the command.
    Bundle {
        url: String,
        /// The expected SHA-256 digest, in lowercase hexadecimal.
        sha256: String,
    },
}

/// Words that belong together, and are omitted together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanItem {
    pub words: Vec<Template>,
    pub(crate) required: bool,
    /// The item is included only if this answer is `true`.
    pub(crate) when: Option<String>,
    /// The item is included only if these questions have answers.
    pub(crate) needs: Vec<String>,
}

impl InstallPlan {
    /// Creates a plan for a URL without further settings.
    pub fn for_address(url: &str, reach: RegistryReach) -> Result<Self, PlanError> {
        let url = url.to_owned();
        let kind = if url.trim_end_matches('/').ends_with("/sse") { "sse" } else { "http" };
        crate::plan::package::remote_plan(
            &RegistryRemote { kind: kind.to_owned(), url, ..RegistryRemote::default() },
            reach,
        )
    }

    /// Returns the command or URL, with `<name>` for answers and `[]` around optional parts.
    #[must_use]
    pub fn display_text(&self) -> String {
        let words = |words: &[Template]| {
            words.iter().map(Template::display_text).collect::<Vec<_>>().join(" ")
        };
        match &self.body {
            PlanBody::Command { command, args, .. } => {
                let item = |item: &PlanItem| {
                    let text = words(&item.words);
                    if item.is_certain() { text } else { format!("[{text}]") }
                };
                let args: Vec<String> = args.iter().map(item).collect();
                format!("{} {}", command.display_text(), args.join(" "))
            }
            PlanBody::Remote { kind, url, .. } => {
                let way = if *kind == "sse" { "HTTP+SSE" } else { "streamable HTTP" };
                format!("{} over {way}", url.display_text())
            }
            PlanBody::Bundle { url, sha256 } => format!("the bundle {url} with SHA-256 {sha256}"),
        }
    }
}

impl PlanItem {
    pub(crate) fn from_fixed_words(words: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let words = words.into_iter().map(Template::text).collect();
        Self { required: true, ..Self::new(words) }
    }

    /// Returns whether the item is included regardless of the answers.
    fn is_certain(&self) -> bool {
        let asks = self.words.iter().flat_map(Template::names).next().is_some();
        self.required || (!asks && self.when.is_none() && self.needs.is_empty())
    }

    /// Creates an item that is included if all of its questions have answers.
    pub(crate) fn new(words: Vec<Template>) -> Self {
        Self { words, required: false, when: None, needs: Vec::new() }
    }
}

/// Collects the questions of a plan under unique names.
#[derive(Debug, Default)]
pub(crate) struct PlanQuestions {
    asked: Vec<RegistryQuestion>,
}

impl PlanQuestions {
    /// Adds a question and returns its name. An equal question is added only once.
    pub(crate) fn ask(&mut self, mut asked: RegistryQuestion, owner: &str) -> String {
        let plain = asked.name.clone();
        // Bounded, although a plan has far fewer inputs with the same name.
        for number in 1..100 {
            asked.name = match number {
                1 => plain.clone(),
                2 => format!("{owner}.{plain}"),
                _ => format!("{owner}.{plain}.{number}"),
            };
            match self.asked.iter().find(|known| known.name == asked.name) {
                Some(known) if *known == asked => return asked.name,
                Some(_) => {}
                None => break,
            }
        }
        let name = asked.name.clone();
        self.asked.push(asked);
        name
    }

    /// Returns the template of a value: the fixed value with its variables, or an answer.
    pub(crate) fn value(&mut self, name: &str, input: &ValueInput) -> Template {
        match &input.value {
            Some(value) => self.template(name, value, &input.variables, input.is_secret),
            None => {
                let name = self.ask(RegistryQuestion::from_input(name, input), name);
                Template::from_answer(name)
            }
        }
    }

    /// Parses a text with variables, and adds a question for each.
    pub(crate) fn template(
        &mut self,
        owner: &str,
        text: &str,
        variables: &BTreeMap<String, ValueInput>,
        secret: bool,
    ) -> Template {
        let mut names = BTreeMap::new();
        for (name, input) in variables {
            if !text.contains(&format!("{{{name}}}")) {
                continue;
            }
            // Variables inside variables are not supported; the value is used as the default.
            let mut asked = RegistryQuestion::from_input(name, input);
            asked.secret |= secret;
            asked.default = asked.default.or_else(|| input.value.clone());
            names.insert(name.clone(), self.ask(asked, owner));
        }
        Template::read(text, |name| names.get(name).cloned())
    }

    pub(crate) fn into_asked(self) -> Vec<RegistryQuestion> {
        self.asked
    }
}

/// Rejects text that no legitimate server needs.
pub(crate) fn check_text(what: &str, text: &str) -> Result<(), PlanError> {
    let hostile =
        |why: &str| Err(PlanError::Hostile { what: what.to_owned(), why: why.to_owned() });
    if text.chars().any(is_unseen) {
        return hostile("contains an invisible character");
    }
    if text.len() > 8_192 {
        return hostile("is too long");
    }
    // Also within options such as `--root=../x` and mounts such as `../x:/y`.
    if text.split(['/', '\\', '=', ':', ',']).any(|part| part == "..") {
        return hostile("leads out of a folder");
    }
    // An argument with a metadata URL would make the server fetch the machine's credentials.
    if let Some(at) = text.find("://") {
        let before = text.get(..at).unwrap_or_default();
        let start = before.rfind(|c: char| !c.is_ascii_alphanumeric()).map_or(0, |at| at + 1);
        let address = text.get(start..).unwrap_or_default();
        let address = address.split(['"', '\'', ' ', ',']).next().unwrap_or_default();
        if RegistryReach::is_metadata(address) {
            return hostile("leads to a cloud metadata address");
        }
    }
    Ok(())
}

/// Returns whether a character is invisible: what a person reviews must be what runs.
fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// Rejects invalid names of environment variables.
pub(crate) fn check_variable(name: &str) -> Result<(), PlanError> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    let good = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.len() <= 128
        && name.chars().all(fits);
    if good { Ok(()) } else { Err(bad_name("the variable", name)) }
}

/// Rejects invalid header names, and headers that belong to the connection.
pub(crate) fn check_header(name: &str) -> Result<(), PlanError> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    let reserved = "host content-length content-type transfer-encoding connection upgrade te trailer \
                    keep-alive proxy-authorization expect";
    let is_reserved = reserved.split(' ').any(|word| name.eq_ignore_ascii_case(word));
    let good = !name.is_empty() && name.len() <= 128 && name.chars().all(fits) && !is_reserved;
    if good { Ok(()) } else { Err(bad_name("the header", name)) }
}

fn bad_name(what: &str, name: &str) -> PlanError {
    let name: String = name.chars().filter(|c| !is_unseen(*c)).take(80).collect();
    PlanError::Hostile {
        what: format!("{what} `{name}`"),
        why: "has an invalid or reserved name".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_no_honest_server_needs_is_refused() {
        for text in [
            "--port",
            "a;b $(c) `d`",
            "type=bind,src=/x,dst=/y",
            "https://a.example/x",
            ".../x",
            "a..b",
        ] {
            assert_eq!(check_text("x", text), Ok(()), "{text}");
        }
        for text in [
            "a\nb",
            "\u{1b}[2J",
            "a\0",
            "x\u{202e}y",
            "x\u{200b}y",
            "../up",
            "a/../b",
            "--dir=..",
            "http://169.254.169.254/latest",
            "--url=http://169.254.169.254/",
            "http://metadata.google.internal/",
        ] {
            assert!(check_text("x", text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn names_of_variables_and_headers_are_plain() {
        for name in ["API_KEY", "X-API-Key", "_a.b"] {
            assert_eq!(check_variable(name), Ok(()), "{name}");
        }
        for name in ["", "A=B", "1A", "A B", "A\n", "ä"] {
            assert!(check_variable(name).is_err(), "{name:?}");
        }
        assert_eq!(check_header("X-Key"), Ok(()));
        for name in ["", "Host", "transfer-encoding", "A: b", "A\r\nB"] {
            assert!(check_header(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn the_same_question_is_asked_once_and_another_gets_another_name() {
        let mut questions = PlanQuestions::default();
        let plain = ValueInput::default();
        let other = ValueInput { is_secret: true, ..ValueInput::default() };
        assert_eq!(questions.ask(RegistryQuestion::from_input("token", &plain), "A"), "token");
        assert_eq!(questions.ask(RegistryQuestion::from_input("token", &plain), "B"), "token");
        assert_eq!(questions.ask(RegistryQuestion::from_input("token", &other), "C"), "C.token");
        assert_eq!(questions.into_asked().len(), 2);
    }
}
