//! `switchboard review answer`: answers one entry of the review queue.

use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};
use switchboard_host::{AskKind, Form, ReviewQueue, restore_ask};
use switchboard_store::{AskedFor, EntryState, Matter, QueueEntry, UserDecision};
use switchboard_terminal::{CliError, exit_code, open_address};

use crate::context::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct AnswerArgs {
    /// Its id
    pub(crate) id: String,
    /// What to say
    #[arg(value_enum)]
    pub(crate) word: AnswerWord,
    /// With `reject`: what to do instead
    #[arg(long, value_name = "TEXT")]
    pub(crate) tell: Option<String>,
    /// With `run`: run it with these arguments instead
    #[arg(long, value_name = "JSON")]
    pub(crate) json_args: Option<String>,
    /// With `accept`: fill in a field, as name=value (may be given several times)
    #[arg(long, short, value_name = "NAME=VALUE")]
    pub(crate) field: Vec<String>,
    /// Only if what waits has this digest, or one that begins so
    #[arg(long, value_name = "DIGEST")]
    pub(crate) digest: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnswerWord {
    /// Run the call, this once
    Run,
    /// Run it, and do not ask for this tool again in the same session
    Session,
    /// Run it, and do not ask for this tool again
    Always,
    /// Leave it out
    Skip,
    /// Do not run it, and say what to do instead
    Reject,
    /// Yes to the server, with what `--field` fills in
    Accept,
    /// No to the server
    Decline,
    /// Neither yes nor no
    Cancel,
    /// Open the address in a browser, and accept
    Open,
}

/// Minimum length of a digest prefix on the command line.
const MIN_DIGEST_CHARS: usize = 8;

/// Identifies this process as the answerer, for faces that answer too late.
pub(crate) fn answerer() -> String {
    format!("`switchboard review` in process {}", std::process::id())
}

pub(crate) async fn answer(
    context: &CommandContext,
    waiting: &ReviewQueue,
    answer: AnswerArgs,
) -> Result<u8, CliError> {
    let entry = waiting.find(&answer.id.to_lowercase()).await?;
    let digest = match &answer.digest {
        Some(given) if given.len() < MIN_DIGEST_CHARS => {
            let why = format!("a digest has at least {MIN_DIGEST_CHARS} characters here");
            return Err(CliError::usage(why));
        }
        // Pass a digest that does not match unchanged; the queue rejects it.
        Some(given) if !entry.digest.starts_with(&given.to_lowercase()) => given.clone(),
        Some(_) | None => entry.digest.clone(),
    };
    let given = parse_decision(&entry, &answer)?;
    let word = given.word();
    // Do not open the URL if the answer is going to be rejected.
    let is_taken = digest == entry.digest && entry.state == EntryState::Waiting;
    if answer.word == AnswerWord::Open && is_taken {
        open(&entry)?;
    }
    waiting.answer(&entry.id, &digest, given, &answerer()).await?;
    if context.printer.json {
        context.printer.json(&json!({"id": entry.id, "digest": digest, "answered": word}))?;
    } else {
        context.printer.say(&format!("`{}` is answered with `{word}`", entry.id));
    }
    Ok(exit_code::OK)
}

fn parse_decision(entry: &QueueEntry, answer: &AnswerArgs) -> Result<UserDecision, CliError> {
    let AnswerArgs { word, tell, json_args, field, .. } = answer;
    let only = |flag: &str, with: &str| {
        Err(CliError::usage(format!("`{flag}` goes with `{with}` and nothing else")))
    };
    if tell.is_some() && *word != AnswerWord::Reject {
        return only("--tell", "reject");
    }
    if json_args.is_some() && *word != AnswerWord::Run {
        return only("--json-args", "run");
    }
    if !field.is_empty() && *word != AnswerWord::Accept {
        return only("--field", "accept");
    }
    Ok(match word {
        AnswerWord::Run => match json_args {
            Some(arguments) => UserDecision::RunWith(arguments.clone()),
            None => UserDecision::Run,
        },
        AnswerWord::Session => UserDecision::Session,
        AnswerWord::Always => UserDecision::Always,
        AnswerWord::Skip => UserDecision::Skip,
        AnswerWord::Reject => match tell {
            Some(instead) => UserDecision::Reject(instead.clone()),
            None => UserDecision::Skip,
        },
        AnswerWord::Accept => UserDecision::Accept(form_content(entry, field)?),
        AnswerWord::Decline => UserDecision::Decline,
        AnswerWord::Cancel => UserDecision::Cancel,
        AnswerWord::Open => UserDecision::Accept(None),
    })
}

/// Builds the form content from `--field` values, by the form that the server sent.
fn form_content(
    entry: &QueueEntry,
    words: &[String],
) -> Result<Option<Map<String, Value>>, CliError> {
    let Some(form) = parse_form(entry)? else {
        return match words {
            [] => Ok(None),
            _ => Err(CliError::usage(format!("`{}` has no form to fill in", entry.id))),
        };
    };
    let mut content = Map::new();
    for field in &form.fields {
        // Fields that are not given keep their default.
        if let Some(default) = &field.default {
            content.insert(field.name.clone(), default.clone());
        }
    }
    for word in words {
        let Some((name, value)) = word.split_once('=') else {
            return Err(CliError::usage(format!("the field `{word}` has no `=`"))
                .with_hint("write it as name=value"));
        };
        let Some(field) = form.fields.iter().find(|field| field.name == name) else {
            let names: Vec<&str> = form.fields.iter().map(|field| field.name.as_str()).collect();
            return Err(CliError::usage(format!("the form has no field `{name}`"))
                .with_hint(format!("it has {}", names.join(", "))));
        };
        let value = field
            .read(value)
            .map_err(|problem| CliError::usage(format!("the field `{name}` {problem}")))?;
        match value {
            Some(value) => content.insert(field.name.clone(), value),
            None => content.remove(&field.name),
        };
    }
    Ok(Some(content))
}

fn parse_form(entry: &QueueEntry) -> Result<Option<Form>, CliError> {
    let Matter::Ask(ask) = &entry.asked.matter else { return Ok(None) };
    let ask = restore_ask(&entry.asked, ask);
    let ask = ask.map_err(|bad| CliError::new(exit_code::TROUBLE, bad.to_string()))?;
    Ok(match ask.map(|ask| ask.kind) {
        Some(AskKind::Form(form)) => Some(form),
        Some(AskKind::Url(_) | AskKind::Sampling(_)) | None => None,
    })
}

/// Opens the URL of an entry in a browser.
fn open(entry: &QueueEntry) -> Result<(), CliError> {
    let Matter::Ask(ask) = &entry.asked.matter else {
        return Err(CliError::usage(format!("`{}` has no address to open", entry.id)));
    };
    let AskedFor::Url { url } = &ask.wanted else {
        return Err(CliError::usage(format!("`{}` has no address to open", entry.id)));
    };
    // Validate the URL again: the queue file may have been changed since.
    let checked = restore_ask(&entry.asked, ask);
    checked.map_err(|bad| CliError::new(exit_code::NOT_ALLOWED, bad.to_string()))?;
    open_address(url, None).map_err(|why| {
        CliError::new(exit_code::TROUBLE, why)
            .with_hint(format!("open it yourself, then accept: {url}"))
    })
}
