//! `switchboard review answer`: answers one entry of the review queue.

use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};
use switchboard_host::{AskKind, Form, ReviewQueue, restore_ask};
use switchboard_store::{AskedFor, EntryState, Matter, QueueEntry, UserDecision};
use switchboard_terminal::{CliError, exit_code, open_address};

use crate::context::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct AnswerArgs {
    /// Id of the entry
    pub(crate) id: String,
    /// Answer to give to the entry
    #[arg(value_enum)]
    pub(crate) word: AnswerWord,
    /// With `reject`, what to do instead
    #[arg(long, value_name = "TEXT")]
    pub(crate) tell: Option<String>,
    /// With `run`, arguments to use instead
    #[arg(long, value_name = "JSON")]
    pub(crate) json_args: Option<String>,
    /// With `accept`, a form field as name=value (can be repeated)
    #[arg(long, short, value_name = "NAME=VALUE")]
    pub(crate) field: Vec<String>,
    /// Answer only if the entry has this digest or digest prefix
    #[arg(long, value_name = "DIGEST")]
    pub(crate) digest: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnswerWord {
    /// Run the call once
    Run,
    /// Run the call and allow the tool for this session
    Session,
    /// Run the call and always allow the tool
    Always,
    /// Do not run the call
    Skip,
    /// Do not run the call, and say what to do instead
    Reject,
    /// Accept the server's request, with the values of `--field`
    Accept,
    /// Decline the server's request
    Decline,
    /// Dismiss the request without an answer
    Cancel,
    /// Open the URL in a browser and accept
    Open,
}

/// Minimum length of a digest prefix; a shorter one could match by chance.
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
            let why = format!("`--digest` needs at least {MIN_DIGEST_CHARS} characters");
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
        context.printer.say(&format!("answered `{}` with `{word}`", entry.id));
    }
    Ok(exit_code::OK)
}

fn parse_decision(entry: &QueueEntry, answer: &AnswerArgs) -> Result<UserDecision, CliError> {
    let AnswerArgs { word, tell, json_args, field, .. } = answer;
    let only = |flag: &str, with: &str| {
        Err(CliError::usage(format!("`{flag}` can only be used with `{with}`")))
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

fn open(entry: &QueueEntry) -> Result<(), CliError> {
    let no_url = || CliError::usage(format!("`{}` has no URL to open", entry.id));
    let Matter::Ask(ask) = &entry.asked.matter else { return Err(no_url()) };
    let AskedFor::Url { url } = &ask.wanted else { return Err(no_url()) };
    // Validate the URL again: the queue file may have been changed since.
    let checked = restore_ask(&entry.asked, ask);
    checked.map_err(|bad| CliError::new(exit_code::NOT_ALLOWED, bad.to_string()))?;
    open_address(url, None).map_err(|why| {
        CliError::new(exit_code::TROUBLE, why)
            .with_hint(format!("open it yourself, then accept: {url}"))
    })
}
