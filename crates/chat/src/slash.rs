//! Slash commands of the chat prompt, and their completion.

use switchboard_host::Host;
use switchboard_terminal::CompleteArgs;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PromptInput {
    Words(String),
    Nothing,
    Slash(SlashCommand),
    Prompt {
        server: String,
        prompt: String,
        arguments: Vec<String>,
    },
    /// A word that starts with a slash but is not a command.
    Unknown(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SlashCommand {
    Help,
    Tools(String),
    Servers,
    Model(Option<String>),
    Undo,
    Retry,
    Session,
    Rename(String),
    Export(Option<String>),
    Quit,
}

impl SlashCommand {
    /// Returns whether the command affects the current turn, so that it has to wait for its end.
    pub(crate) const fn waits_for_turn(&self) -> bool {
        match self {
            Self::Undo | Self::Retry | Self::Model(Some(_)) => true,
            Self::Help
            | Self::Tools(_)
            | Self::Servers
            | Self::Model(None)
            | Self::Session
            | Self::Rename(_)
            | Self::Export(_)
            | Self::Quit => false,
        }
    }
}

/// Usage and description of each command.
pub(crate) const HELP: [(&str, &str); 12] = [
    ("/help", "show this help"),
    ("/tools [WORDS]", "list the tools, or search them"),
    ("/servers", "list the servers and their state"),
    ("/SERVER:PROMPT [KEY=VALUE]", "send a prompt of a server"),
    ("@SERVER:URI", "anywhere in a line: attach a resource"),
    ("/model [NAME]", "show or change the model"),
    ("/undo", "undo the last turn"),
    ("/retry", "ask the model again"),
    ("/session", "show the id of this conversation"),
    ("/rename NAME", "rename this conversation"),
    ("/export [FILE]", "export this conversation as Markdown"),
    ("/quit", "leave; `switchboard chat --resume` continues"),
];

/// Parses a line; `is_server` tells whether a word is the name of a server.
pub(crate) fn parse_input(line: &str, is_server: impl Fn(&str) -> bool) -> PromptInput {
    let text = line.trim();
    if text.is_empty() {
        return PromptInput::Nothing;
    }
    let Some(command) = text.strip_prefix('/') else { return PromptInput::Words(text.to_owned()) };
    let (word, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
    let rest = rest.trim();
    let given = (!rest.is_empty()).then(|| rest.to_owned());
    let slash = match word {
        "help" | "?" => SlashCommand::Help,
        "tools" => SlashCommand::Tools(rest.to_owned()),
        "servers" => SlashCommand::Servers,
        "model" => SlashCommand::Model(given),
        "undo" => SlashCommand::Undo,
        "retry" => SlashCommand::Retry,
        "session" => SlashCommand::Session,
        "rename" if given.is_some() => SlashCommand::Rename(rest.to_owned()),
        "export" => SlashCommand::Export(given),
        "quit" | "exit" | "q" => SlashCommand::Quit,
        _ => return prompt(word, rest, is_server, text),
    };
    PromptInput::Slash(slash)
}

fn prompt(word: &str, rest: &str, is_server: impl Fn(&str) -> bool, text: &str) -> PromptInput {
    // Both server and prompt names may contain a colon, so try every one as the separator.
    let found = word
        .match_indices(':')
        .filter_map(|(place, _)| Some((word.get(..place)?, word.get(place + 1..)?)))
        .find(|(server, prompt)| !prompt.is_empty() && is_server(server));
    match found {
        Some((server, prompt)) => PromptInput::Prompt {
            server: server.to_owned(),
            prompt: prompt.to_owned(),
            arguments: split_words(rest),
        },
        // A word with another slash is a path, not a mistyped command.
        None if word.contains('/') => PromptInput::Words(text.to_owned()),
        None => PromptInput::Unknown(format!("/{word}")),
    }
}

/// Splits a text into words; double quotes keep spaces together: `a=1 b="two words"`.
fn split_words(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut word = String::new();
    let mut quoted = false;
    let mut begun = false;
    for c in text.chars() {
        match c {
            '"' => {
                quoted = !quoted;
                begun = true;
            }
            c if c.is_whitespace() && !quoted => {
                if begun {
                    all.push(std::mem::take(&mut word));
                    begun = false;
                }
            }
            c => {
                word.push(c);
                begun = true;
            }
        }
    }
    if begun {
        all.push(word);
    }
    all
}

/// Completes slash commands, prompts and resources from the current fleet.
pub(crate) struct Completions {
    pub(crate) host: Host,
}

impl CompleteArgs for Completions {
    fn complete(&self, line: &str, position: usize) -> (usize, Vec<String>) {
        let before = line.get(..position).unwrap_or(line);
        let start = before.rfind(char::is_whitespace).map_or(0, |place| {
            place
                + before.get(place..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8)
        });
        let word = before.get(start..).unwrap_or_default();
        let offered = match word.chars().next() {
            Some('/') if start == 0 => self.commands(),
            Some('@') => self.resources(),
            _ => Vec::new(),
        };
        // More would fill the screen; typing another character narrows them down.
        let fitting = offered.into_iter().filter(|offer| offer.starts_with(word)).take(200);
        (start, fitting.collect())
    }
}

impl Completions {
    fn commands(&self) -> Vec<String> {
        let own = HELP.iter().filter_map(|(usage, _)| usage.split(' ').next());
        let own = own.filter(|word| word.starts_with('/') && !word.contains(':'));
        let mut all: Vec<String> = own.map(str::to_owned).collect();
        for server in self.host.fleet().load().servers.values() {
            let prompts = server.offers.prompts.iter();
            all.extend(prompts.map(|prompt| format!("/{}:{}", server.id, prompt.key)));
        }
        all
    }

    fn resources(&self) -> Vec<String> {
        let mut all = Vec::new();
        for server in self.host.fleet().load().servers.values() {
            let resources = server.offers.resources.iter();
            all.extend(resources.map(|resource| format!("@{}:{}", server.id, resource.key)));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::{PromptInput, SlashCommand, parse_input};

    #[test]
    fn a_line_is_words_a_command_or_a_prompt() {
        let is_server = |name: &str| ["files", "a:b"].contains(&name);
        let prompt = |server: &str, prompt: &str, arguments: &[&str]| PromptInput::Prompt {
            server: server.to_owned(),
            prompt: prompt.to_owned(),
            arguments: arguments.iter().map(|&word| word.to_owned()).collect(),
        };
        for (line, expected) in [
            ("  ", PromptInput::Nothing),
            (" hi there ", PromptInput::Words("hi there".to_owned())),
            ("/help", PromptInput::Slash(SlashCommand::Help)),
            ("/tools send mail", PromptInput::Slash(SlashCommand::Tools("send mail".to_owned()))),
            ("/model", PromptInput::Slash(SlashCommand::Model(None))),
            ("/rename", PromptInput::Unknown("/rename".to_owned())),
            ("/quit", PromptInput::Slash(SlashCommand::Quit)),
            ("/files:tidy a=1 b=\"two words\"", prompt("files", "tidy", &["a=1", "b=two words"])),
            ("/a:b:c", prompt("a:b", "c", &[])),
            ("/other:tidy", PromptInput::Unknown("/other:tidy".to_owned())),
            ("/usr/bin is full", PromptInput::Words("/usr/bin is full".to_owned())),
        ] {
            assert_eq!(parse_input(line, is_server), expected, "{line}");
        }
    }
}
