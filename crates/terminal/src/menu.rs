//! The review menu: shows one call exactly as it would be sent, and asks for a decision.

use switchboard_text::{escape_json, escape_line, hex_digest};

use crate::keys::QuestionState;
use crate::menu_person::TerminalPerson;

/// Size from which arguments do not fit on a screen, so that their fingerprint must be typed.
const LONG_BYTES: usize = 4_000;
/// Number of characters of a fingerprint that must be typed.
const TYPED_CHARS: usize = 6;

#[derive(Clone, Copy, Debug)]
pub(crate) struct ReviewCard<'a> {
    pub(crate) title: &'a str,
    /// The arguments exactly as they would be sent.
    pub(crate) arguments: &'a str,
    pub(crate) why: &'a str,
    pub(crate) can_always: AlwaysOption<'a>,
}

/// Whether a tool may be allowed permanently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AlwaysOption<'a> {
    Yes,
    NotFor(&'a str),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MenuChoice {
    Run,
    Session,
    Always,
    Skip,
    Tell(String),
    Edit(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MenuEntry {
    Run,
    Session,
    Always,
    Skip,
    Tell,
    Edit,
}

impl MenuEntry {
    const ALL: [Self; 6] =
        [Self::Run, Self::Session, Self::Always, Self::Skip, Self::Tell, Self::Edit];

    pub(crate) const fn key(self) -> char {
        match self {
            Self::Run => 'r',
            Self::Session => 'o',
            Self::Always => 'a',
            Self::Skip => 's',
            Self::Tell => 't',
            Self::Edit => 'e',
        }
    }

    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::Run => "[r] run",
            Self::Session => "[o] only this session",
            Self::Always => "[a] always allow",
            Self::Skip => "[s] skip",
            Self::Tell => "[t] tell what to do instead",
            Self::Edit => "[e] edit the arguments",
        }
    }

    /// Returns the entry for a word or key, if it is one of `entries`.
    pub(crate) fn parse(word: &str, entries: &[Self]) -> Option<Self> {
        let entry = match word.to_lowercase().as_str() {
            "r" | "run" | "y" | "yes" => Self::Run,
            "o" | "session" => Self::Session,
            "a" | "always" => Self::Always,
            "s" | "skip" | "n" | "no" => Self::Skip,
            "t" | "tell" => Self::Tell,
            "e" | "edit" => Self::Edit,
            _ => return None,
        };
        entries.contains(&entry).then_some(entry)
    }
}

pub(crate) trait MenuPerson {
    fn show(&mut self, text: &str) -> Option<()>;
    /// Lets the person choose; `None` if they leave.
    fn choose(&mut self, entries: &[MenuEntry]) -> Option<MenuEntry>;
    fn line(&mut self, question: &str) -> Option<String>;
    /// Lets the person edit a text; the error is the reason of a failure.
    fn edit(&mut self, text: &str) -> Result<String, String>;
}

/// Asks the person at the terminal; `None` if they leave or the question is withdrawn.
pub(crate) fn ask(card: &ReviewCard<'_>, standing: QuestionState) -> Option<MenuChoice> {
    decide(card, &mut TerminalPerson::new(standing))
}

fn decide(card: &ReviewCard<'_>, person: &mut impl MenuPerson) -> Option<MenuChoice> {
    let mut edited: Option<String> = None;
    // Edited arguments that are invalid are kept, so that the person's work is not lost.
    let mut draft: Option<String> = None;
    person.show(&card_text(card, card.arguments))?;
    loop {
        match person.choose(&entries(card, edited.as_deref()))? {
            MenuEntry::Run if !has_seen_all(card, edited.as_deref(), person)? => {}
            MenuEntry::Always if !has_seen_all(card, None, person)? => {}
            MenuEntry::Run => return Some(edited.map_or(MenuChoice::Run, MenuChoice::Edit)),
            MenuEntry::Session => return Some(MenuChoice::Session),
            MenuEntry::Always => return Some(MenuChoice::Always),
            MenuEntry::Skip => return Some(MenuChoice::Skip),
            MenuEntry::Tell => {
                let told = person.line("What should be done instead? ")?;
                if !told.trim().is_empty() {
                    return Some(MenuChoice::Tell(told.trim().to_owned()));
                }
            }
            MenuEntry::Edit => {
                let current = edited.as_deref().unwrap_or(card.arguments);
                let given = draft.take().unwrap_or_else(|| pretty(current));
                match edited_arguments(person.edit(&given), &given) {
                    Ok(None) => {}
                    Ok(Some(text)) => {
                        person.show(&card_text(card, &text))?;
                        edited = Some(text);
                    }
                    Err((why, text)) => {
                        person.show(&format!("Not changed: {}\n", escape_line(&why)))?;
                        draft = text;
                    }
                }
            }
        }
    }
}

/// Returns whether the person has seen long arguments to their end, where the fingerprint is shown.
fn has_seen_all(
    card: &ReviewCard<'_>,
    edited: Option<&str>,
    person: &mut impl MenuPerson,
) -> Option<bool> {
    let arguments = edited.unwrap_or(card.arguments);
    if arguments.len() < LONG_BYTES {
        return Some(true);
    }
    let typed = person.line(&format!(
        "These are {} bytes. Type the fingerprint below them to run the call: ",
        arguments.len()
    ))?;
    let seen = typed.trim() == fingerprint(arguments);
    if !seen {
        person.show("That does not match; nothing runs.\n")?;
    }
    Some(seen)
}

fn fingerprint(arguments: &str) -> String {
    hex_digest([arguments.as_bytes()]).chars().take(TYPED_CHARS).collect()
}

fn entries(card: &ReviewCard<'_>, edited: Option<&str>) -> Vec<MenuEntry> {
    // Edited arguments can only be run once: approving them says nothing about later calls.
    let always = edited.is_none() && card.can_always == AlwaysOption::Yes;
    let fits = |entry: &MenuEntry| match entry {
        MenuEntry::Always => always,
        MenuEntry::Session => edited.is_none(),
        MenuEntry::Run | MenuEntry::Skip | MenuEntry::Tell | MenuEntry::Edit => true,
    };
    MenuEntry::ALL.into_iter().filter(fits).collect()
}

/// Returns the edited arguments, `None` if they are unchanged, or why they cannot be sent.
fn edited_arguments(
    edited: Result<String, String>,
    given: &str,
) -> Result<Option<String>, (String, Option<String>)> {
    let text = edited.map_err(|why| (why, None))?;
    let text = text.trim();
    if text == given.trim() {
        return Ok(None);
    }
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(serde_json::Value::Object(_)) => Ok(Some(text.to_owned())),
        Ok(_) => Err(("the arguments must be a JSON object".to_owned(), Some(text.to_owned()))),
        Err(error) => Err((format!("this is not JSON: {error}"), Some(text.to_owned()))),
    }
}

fn card_text(card: &ReviewCard<'_>, arguments: &str) -> String {
    let mut text = format!(
        "\n{}\n{}\n({} bytes of arguments; asked because {})\n",
        escape_line(card.title),
        escape_json(&pretty(arguments)),
        arguments.len(),
        escape_line(card.why),
    );
    if arguments.len() >= LONG_BYTES {
        text.push_str(&format!("(fingerprint of the arguments: {})\n", fingerprint(arguments)));
    }
    if let AlwaysOption::NotFor(reason) = card.can_always {
        text.push_str(&format!("(cannot always be allowed: {})\n", escape_line(reason)));
    }
    text
}

/// Pretty-prints JSON only if that preserves it exactly.
pub(crate) fn pretty(arguments: &str) -> String {
    serde_json::from_str::<serde_json::Value>(arguments)
        .ok()
        // A duplicate member would be lost, and the person would approve something else.
        .filter(|value| serde_json::to_string(value).is_ok_and(|text| text == arguments))
        .and_then(|value| serde_json::to_string_pretty(&value).ok())
        .unwrap_or_else(|| arguments.to_owned())
}

#[cfg(test)]
#[path = "menu_tests.rs"]
mod tests;
