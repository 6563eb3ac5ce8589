//! Says what would be decided about a call, and why; nothing is called.

use std::fmt::Write as _;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use switchboard_catalog::ResolvedCall;
use switchboard_config::Config;
use switchboard_core::{Caller, Face, Origin, ProposedCall, ServerId, Target, TargetKind};
use switchboard_host::policy::{Explanation, SessionFacts, Verdict};
use switchboard_terminal::{CliError, arguments_from_json, exit_code};
use switchboard_text::escape_line;

use crate::commands::policy::usable;
use crate::context::CommandContext;

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// What would be called: server/tool, or server/address with `--kind resource`
    pub(crate) target: String,
    /// The arguments as a JSON object
    #[arg(long, value_name = "JSON", default_value = "{}")]
    pub(crate) args: String,
    /// Which kind of thing it is
    #[arg(long, value_enum, default_value_t = KindChoice::Tool)]
    pub(crate) kind: KindChoice,
    /// Who would call it
    #[arg(long, value_enum, default_value_t = CallerChoice::Model)]
    pub(crate) caller: CallerChoice,
    /// As if something had come from this server before, or from server/tool (may be given several times)
    #[arg(long, value_name = "SERVER")]
    pub(crate) after: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KindChoice {
    /// A tool is run
    Tool,
    /// A resource is read
    Resource,
    /// A prompt is fetched
    Prompt,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CallerChoice {
    /// A person types it
    Person,
    /// A model writes it
    Model,
    /// A client of the gateway sends it
    Client,
}

/// Explains one decision.
pub(crate) async fn explain(context: &CommandContext, wanted: ExplainArgs) -> Result<u8, CliError> {
    let config = usable(context)?;
    let target = target(&config, &wanted)?;
    let arguments = arguments_from_json(&wanted.args)?;
    let id = context.server_id(&config, &target.server)?;
    let host = context.start(Some(vec![id.clone()]))?;
    context.wait_ready(&host, Some(&[id])).await?;
    let resolved = host.lease().resolve(ProposedCall { target, arguments });
    host.stop().await;
    let call = resolved.map_err(|error| {
        let code =
            if error.word() == "not_allowed" { exit_code::NOT_ALLOWED } else { exit_code::USAGE };
        let refused = CliError::new(code, error.to_string());
        match error.hint() {
            Some(hint) => refused.with_hint(hint),
            None => refused,
        }
    })?;
    let mut session = SessionFacts::default();
    for text in &wanted.after {
        session.assume_untrusted_read(text, |server| config.servers.contains_key(server));
    }
    let explained =
        ExplainedDecision(Explanation::new(&config, &call, &caller(wanted.caller), &session));
    if context.printer.json {
        context.printer.json(&explained.as_json(&call))?;
    } else {
        context.printer.data(&explained.text(&call))?;
    }
    Ok(exit_code::OK)
}

/// What is told of a decision.
struct ExplainedDecision(Explanation);

impl ExplainedDecision {
    fn as_json(&self, call: &ResolvedCall) -> Value {
        let (effect, by) = self.0.verdict.effect_and_reason();
        let levels: Vec<Value> = self
            .0
            .rulings
            .iter()
            .map(|ruling| {
                json!({
                    "level": ruling.by.level.as_str(),
                    "effect": ruling.effect.as_str(),
                    "rule": ruling.by.rule,
                    "why": ruling.by.why,
                    "file": ruling.by.file.display().to_string(),
                    "line": ruling.by.line,
                })
            })
            .collect();
        json!({
            "target": call.target().to_string(),
            "verdict": effect.as_str(),
            "by": by,
            "is_readonly": matches!(self.0.verdict, Verdict::ReadOnly(_)),
            "levels": levels,
            "risk": self.0.risk,
        })
    }

    fn text(&self, call: &ResolvedCall) -> String {
        let (effect, by) = self.0.verdict.effect_and_reason();
        let line = |text: &str| escape_line(text).into_owned();
        let mut text = String::new();
        // Writing to a `String` cannot fail.
        _ = writeln!(text, "{}: {}", line(&call.target().to_string()), effect.as_str());
        _ = writeln!(text, "  by    {}", line(by));
        for ruling in &self.0.rulings {
            let said = ruling.effect.as_str();
            _ = writeln!(text, "  {said:<5} {}", line(&ruling.by.to_string()));
        }
        _ = writeln!(text, "  risk  {} of 100", self.0.risk.score);
        for reason in &self.0.risk.reasons {
            _ = writeln!(text, "        {}", line(reason));
        }
        text
    }
}

/// The target of a text; the servers that are there decide where a server's name ends.
fn target(config: &Config, wanted: &ExplainArgs) -> Result<Target, CliError> {
    let text = &wanted.target;
    let known = config.servers.keys().map(ServerId::as_str);
    let server = known
        .filter(|id| text.strip_prefix(*id).is_some_and(|rest| rest.starts_with('/')))
        .max_by_key(|id| id.len());
    let split = match server {
        Some(server) => {
            text.strip_prefix(server).map(|rest| (server, rest.trim_start_matches('/')))
        }
        None => text.split_once('/'),
    };
    let (server, name) = split.ok_or_else(|| {
        CliError::usage(format!("`{text}` names no target")).with_hint("write it as server/tool")
    })?;
    let kind = match wanted.kind {
        KindChoice::Tool => TargetKind::Tool,
        KindChoice::Resource => TargetKind::Resource,
        KindChoice::Prompt => TargetKind::Prompt,
    };
    Ok(Target::new(kind, server, name))
}

fn caller(choice: CallerChoice) -> Caller {
    let (face, origin, name) = match choice {
        CallerChoice::Person => return Caller::person(),
        CallerChoice::Model => (Face::Chat, Origin::Model, "model"),
        CallerChoice::Client => (Face::Gateway, Origin::Client, "client"),
    };
    Caller { face, origin, name: name.to_owned(), reference: None }
}
