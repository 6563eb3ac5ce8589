//! `switchboard review`: lists, shows and answers the entries of the review queue.

use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use switchboard_config::remove_auto_approve;
use switchboard_core::Risk;
use switchboard_host::{DEFAULT_REVIEW_LIMIT, ReviewQueue, restore_ask};
use switchboard_store::{AskMatter, AskedFor, EntryState, Matter, QueueEntry, UserDecision};
use switchboard_terminal::{
    CallQuestion, CallResponse, CliError, ReviewWait, ask_line, exit_code, has_person, is_yes,
    present_ask, question_title, reason_with_risk,
};
use switchboard_text::{escape, escape_json, escape_line};
use switchboard_trust::AlwaysAnswers;

use crate::commands::review::answer;
use crate::commands::review::answer::AnswerArgs;
use crate::context::CommandContext;

/// Option to wait for an answer from another face.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct ReviewWaitArgs {
    /// Without a terminal, wait for an answer through `switchboard review`, for the configured time
    /// or for TIME such as 90s, 10m or 2h
    #[arg(
        long = "wait-for-review",
        value_name = "TIME",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "usual"
    )]
    pub(crate) patience: Option<ReviewWait>,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "Without a command, a terminal asks about each pending entry in turn. \
Exit codes of `answer`: 0 answered, 2 unknown entry or invalid answer, 4 no longer pending")]
pub(crate) struct ReviewArgs {
    #[command(subcommand)]
    pub(crate) command: Option<ReviewCommand>,
    /// Keep running and show every change
    #[arg(long, short)]
    pub(crate) watch: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ReviewCommand {
    /// List the pending entries of the queue
    #[command(visible_alias = "ls")]
    List {
        /// Keep running and show every change
        #[arg(long, short)]
        watch: bool,
    },
    /// Show an entry in full
    Show {
        /// Id of the entry
        id: String,
    },
    /// Answer an entry; the first answer counts
    Answer(AnswerArgs),
    /// List tools that an `always` answer allows
    Remembered,
    /// Forget an `always` answer, so that the tool needs approval again
    Forget {
        /// Name of the server
        server: String,
        /// Name of the tool
        tool: String,
    },
}

/// How often the queue is checked for an answer from elsewhere.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

pub(crate) async fn run(context: &CommandContext, review: ReviewArgs) -> Result<u8, CliError> {
    let waiting = context.review_queue(&context.places, DEFAULT_REVIEW_LIMIT);
    match review.command {
        Some(ReviewCommand::List { watch: true }) => watch(context, &waiting).await,
        Some(ReviewCommand::List { watch: false }) => {
            list(context, &waiting.list().await?).map(|()| exit_code::OK)
        }
        Some(ReviewCommand::Show { id }) => show(context, &waiting.find(&id).await?),
        Some(ReviewCommand::Answer(answer)) => answer::answer(context, &waiting, answer).await,
        Some(ReviewCommand::Remembered) => list_remembered(context),
        Some(ReviewCommand::Forget { server, tool }) => forget_remembered(context, &server, &tool),
        None if review.watch => watch(context, &waiting).await,
        None => {
            let entries = waiting.list().await?;
            list(context, &entries)?;
            // A program that reads JSON must not be asked anything.
            if has_person() && !context.printer.json {
                return ask_all(context, &waiting, entries).await;
            }
            Ok(exit_code::OK)
        }
    }
}

fn list(context: &CommandContext, entries: &[QueueEntry]) -> Result<(), CliError> {
    if entries.is_empty() && !context.printer.json {
        context.printer.say("no pending reviews");
        return Ok(());
    }
    let heading = ["id", "kind", "about", "call", "left", "what"];
    context.printer.list(entries, as_json, heading, |entry| {
        let matter = &entry.asked.matter;
        [
            entry.id.clone(),
            matter.word().to_owned(),
            matter_line(matter),
            entry.asked.call.clone().unwrap_or_default(),
            time_left(entry),
            matter_text(matter),
        ]
    })
}

async fn watch(context: &CommandContext, waiting: &ReviewQueue) -> Result<u8, CliError> {
    let mut watch = waiting.watch();
    let watching = async {
        loop {
            list(context, &watch.next_change().await?)?;
        }
    };
    context.watch(watching).await
}

fn show(context: &CommandContext, entry: &QueueEntry) -> Result<u8, CliError> {
    if context.printer.json {
        return context.printer.json(&as_json(entry)).map(|()| exit_code::OK);
    }
    let mut lines = vec![format!("{} ({})", entry.id, state(entry))];
    let mut add = |name: &str, value: Option<&str>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            lines.push(format!("{name}: {}", escape_line(value)));
        }
    };
    let matter = &entry.asked.matter;
    add("about", Some(&matter_line(matter)));
    add("call", entry.asked.call.as_deref());
    add("reference", entry.asked.reference.as_deref());
    add("caller", entry.asked.caller.as_deref());
    add("process", entry.process_id().map(|process| process.to_string()).as_deref());
    add("digest", Some(&entry.digest));
    let body = match matter {
        Matter::Review(review) => {
            add("definition", Some(&review.definition));
            add("reason", Some(&review.why));
            let Risk { score, reasons } = &review.risk;
            add("risk", Some(&format!("{score} of 100: {}", reasons.join(", "))));
            add("problem", review.problem.as_deref());
            format!(
                "arguments, {} bytes:\n{}",
                review.arguments.len(),
                escape_json(&review.arguments)
            )
        }
        Matter::Ask(ask) => {
            let message: String =
                // Marks every line of the server, so that none looks like our own output.
                escape(&ask.message).lines().map(|line| format!("  | {line}\n")).collect();
            let wanted = match &ask.wanted {
                AskedFor::Form { schema } => format!("form: {}", escape(schema)),
                AskedFor::Url { url } => format!("address: {}", escape_line(url)),
                AskedFor::Consent { details, .. } => escape(&format!("{details:#}")).into_owned(),
            };
            format!("the server says:\n{message}{wanted}")
        }
    };
    lines.push(body);
    context.printer.data(&lines.join("\n")).map(|()| exit_code::OK)
}

async fn ask_all(
    context: &CommandContext,
    waiting: &ReviewQueue,
    entries: Vec<QueueEntry>,
) -> Result<u8, CliError> {
    for entry in entries {
        let given = tokio::select! {
            biased;
            () = context.interrupts.token().cancelled() => return Ok(exit_code::INTERRUPTED),
            how = wait_ended(waiting, &entry.id) => {
                context.printer.say(&format!("`{}` is no longer pending: {how}", entry.id));
                continue;
            }
            given = ask_person(&entry) => given?,
        };
        // Leaving answers nothing: the remaining entries stay open for other faces.
        let Some(given) = given else { return Ok(exit_code::INTERRUPTED) };
        let by = answer::answerer();
        match waiting.answer(&entry.id, &entry.digest, given, &by).await {
            Ok(()) => context.printer.say(&format!("answered `{}`", entry.id)),
            // Another face answered first; continue with the next entry.
            Err(error) => context.printer.warn(&error.to_string(), error.hint()),
        }
    }
    Ok(exit_code::OK)
}

async fn ask_person(entry: &QueueEntry) -> Result<Option<UserDecision>, CliError> {
    let unusable = |why: String| CliError::new(exit_code::TROUBLE, why);
    match &entry.asked.matter {
        Matter::Review(review) => {
            let asked = CallQuestion {
                title: question_title(&review.server, &review.target, review.is_tool()),
                arguments: review.arguments.clone(),
                why: reason_with_risk(&review.why, &review.risk),
                problem: review.problem.clone(),
                is_tool: review.is_tool(),
            };
            Ok(match asked.present().await {
                CallResponse::Answer(answer) => Some(UserDecision::from(&answer)),
                CallResponse::Left | CallResponse::Gone => None,
            })
        }
        Matter::Ask(ask) => {
            // Consent has no form to restore, so its details are shown as they are.
            if let AskedFor::Consent { details, .. } = &ask.wanted {
                return Ok(consent(ask, details).await);
            }
            let ask = restore_ask(&entry.asked, ask).map_err(|bad| unusable(bad.to_string()))?;
            let Some(ask) = ask else {
                let why = format!("`{}` cannot be answered at this terminal", entry.id);
                let hint =
                    format!("use `switchboard review answer {} accept` or `decline`", entry.id);
                return Err(unusable(why).with_hint(hint));
            };
            Ok(present_ask(ask).await.map(|reply| UserDecision::from(&reply)))
        }
    }
}

async fn consent(ask: &AskMatter, details: &Value) -> Option<UserDecision> {
    let shown = format!("{}\n{}", escape(&ask.message), escape(&format!("{details:#}")));
    let said = ask_line(&format!("{shown}\nAgree? [y/N] ")).await?;
    Some(if is_yes(said.trim()) { UserDecision::Accept(None) } else { UserDecision::Decline })
}

async fn wait_ended(waiting: &ReviewQueue, id: &str) -> String {
    loop {
        match waiting.find(id).await {
            Ok(QueueEntry { state: EntryState::Waiting, .. }) => {
                tokio::time::sleep(POLL_INTERVAL).await;
            }
            Ok(entry) => return state(&entry),
            Err(error) => return error.to_string(),
        }
    }
}

fn state(entry: &QueueEntry) -> String {
    match &entry.state {
        EntryState::Waiting if entry.is_left => format!("pending, {}", time_left(entry)),
        EntryState::Waiting => format!("pending, {} left", time_left(entry)),
        EntryState::Answered { by, word } => {
            format!("answered with `{word}` by {}", escape_line(by))
        }
        EntryState::Withdrawn { why } => format!("withdrawn: {}", escape_line(why)),
        EntryState::Expired => "expired without an answer".to_owned(),
    }
}

fn matter_line(matter: &Matter) -> String {
    match matter.target() {
        Some(target) => format!("{}/{target}", matter.server()),
        None => matter.server().to_owned(),
    }
}

fn matter_text(matter: &Matter) -> String {
    match matter {
        Matter::Review(review) => review.arguments.clone(),
        Matter::Ask(ask) => ask.message.clone(),
    }
}

fn time_left(entry: &QueueEntry) -> String {
    let left = match entry.time_left().as_secs() {
        seconds if seconds < 120 => format!("{seconds} s"),
        seconds if seconds < 7_200 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3_600),
    };
    // The asking program has ended: an answer is stored until the same question is asked again.
    if entry.is_left { format!("{left}; its program has ended") } else { left }
}

fn as_json(entry: &QueueEntry) -> Value {
    let matter = &entry.asked.matter;
    let mut value = json!({
        "id": entry.id,
        "digest": entry.digest,
        "kind": matter.word(),
        "server": matter.server(),
        "target": matter.target(),
        "call": entry.asked.call,
        "reference": entry.asked.reference,
        "caller": entry.asked.caller,
        "process": entry.process_id(),
        "program_ended": entry.is_left,
        "created": entry.created_at.to_string(),
        "expires": entry.expires_at.to_string(),
        "state": state_word(&entry.state),
    });
    let more = match matter {
        // Arguments stay text: reformatting them as JSON could change them.
        Matter::Review(review) => json!({
            "arguments": review.arguments,
            "definition": review.definition,
            "why": review.why,
            "risk": review.risk,
            "problem": review.problem,
        }),
        Matter::Ask(ask) => match &ask.wanted {
            AskedFor::Form { schema } => json!({"message": ask.message, "schema": schema}),
            AskedFor::Url { url } => json!({"message": ask.message, "url": url}),
            AskedFor::Consent { details, .. } => {
                json!({"message": ask.message, "details": details})
            }
        },
    };
    if let (Value::Object(value), Value::Object(more)) = (&mut value, more) {
        value.extend(more);
        if let EntryState::Answered { by, word } = &entry.state {
            value.insert("answered".to_owned(), json!({"by": by, "with": word}));
        }
    }
    value
}

const fn state_word(state: &EntryState) -> &'static str {
    match state {
        EntryState::Waiting => "waiting",
        EntryState::Answered { .. } => "answered",
        EntryState::Withdrawn { .. } => "withdrawn",
        EntryState::Expired => "expired",
    }
}

fn list_remembered(context: &CommandContext) -> Result<u8, CliError> {
    let remembered = AlwaysAnswers::load(&context.places.state)?;
    let tools = remembered.always.iter();
    let all: Vec<_> = tools
        .flat_map(|(server, tools)| tools.iter().map(move |(tool, bound)| (server, tool, bound)))
        .collect();
    if all.is_empty() && !context.printer.json {
        context.printer.say("no remembered answers");
        return Ok(exit_code::OK);
    }
    let listed = context.printer.list(
        &all,
        |(server, tool, bound)| json!({"server": server, "tool": tool, "digest": bound.digest}),
        ["server", "tool", "definition"],
        |(server, tool, bound)| {
            let digest = bound.digest.chars().take(12).collect();
            [(*server).clone(), (*tool).clone(), digest]
        },
    );
    listed.map(|()| exit_code::OK)
}

fn forget_remembered(context: &CommandContext, server: &str, tool: &str) -> Result<u8, CliError> {
    let remembered = AlwaysAnswers::load(&context.places.state)?;
    if remembered.always.get(server).is_none_or(|tools| !tools.contains_key(tool)) {
        let message = format!("no remembered answer for `{server}/{tool}`");
        return Err(
            CliError::usage(message).with_hint("`switchboard review remembered` lists them")
        );
    }
    let config = context.config()?;
    let source = config.servers.get(server).map(|server| server.source.file.clone());
    let source = source.filter(|file| !file.as_os_str().is_empty());
    // Remove the `autoApprove` entry first: without its digest, it would allow any definition.
    if let Some(file) = source.or_else(|| context.places.user.clone()) {
        remove_auto_approve(&file, server, tool)?;
    }
    AlwaysAnswers::set(&context.places.state, server, tool, None)?;
    let server = escape_line(server);
    let tool = escape_line(tool);
    context.printer.say(&format!("`{server}/{tool}` needs approval again"));
    Ok(exit_code::OK)
}
