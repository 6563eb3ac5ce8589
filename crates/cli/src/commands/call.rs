//! Calls one tool.

use serde_json::Value;
use switchboard_host::config::Config;
use switchboard_host::execute::TaskWish;
use switchboard_host::{Attention, Caller, Face, Host, Origin, ProposedCall, ServerId};
use switchboard_wire::Json;

use crate::args::Call;
use crate::arguments::{from_json, from_words};
use crate::commands::outcome;
use crate::context::Context;
use crate::error::CliError;
use crate::ui::progress;

/// Calls one tool; gives the exit code of its outcome.
pub(crate) async fn call(context: &Context, call: Call) -> Result<u8, CliError> {
    if call.detach && context.shared.no_record {
        return Err(CliError::usage("a call that is not recorded cannot be waited for later")
            .with_hint("leave out `--detach` or `--no-record`"));
    }
    let config = context.config()?;
    let id = context.known(&config, &call.server)?;
    let given = call.json_args.as_deref().map(from_json).transpose()?;
    let only = Some(with_stand_ins(&config, &id, &call.tool));
    let host = context.start_patiently(only, call.wait.patience)?;
    context.ready(&host, Some(std::slice::from_ref(&id))).await?;
    let arguments = match given {
        Some(given) => Ok(given),
        None => from_words(&call.arguments, schema(&host, &id, &call.tool).as_ref()),
    };
    let outcome = match arguments {
        Ok(arguments) => {
            let proposed = ProposedCall::tool(&call.server, &call.tool, arguments);
            let how = How { caller: caller(&call), wish: wish(&call), save: call.save.as_deref() };
            run(context, &host, proposed, how).await
        }
        Err(error) => Err(error),
    };
    host.stop().await;
    outcome
}

/// How a call is made, and where its files go.
pub(crate) struct How<'a> {
    pub(crate) caller: Caller,
    pub(crate) wish: TaskWish,
    pub(crate) save: Option<&'a std::path::Path>,
}

impl How<'_> {
    /// As a person makes it.
    pub(crate) fn person() -> Self {
        Self { caller: Caller::person(), wish: TaskWish::AsConfigured, save: None }
    }
}

/// Runs a call with progress shown and Ctrl-C passed on.
pub(crate) async fn run(
    context: &Context,
    host: &Host,
    proposed: ProposedCall,
    how: How<'_>,
) -> Result<u8, CliError> {
    let How { caller, wish, save } = how;
    let target = proposed.target.clone();
    let (progress, bar) = progress::show(&context.printer, &format!("calling {target}"));
    // The question needs the terminal for itself.
    if caller.origin != Origin::Person {
        bar.finish_and_clear();
    }
    let attention = Attention {
        cancel: context.interrupts.token().clone(),
        progress: Some(progress),
        wish,
        ..Attention::default()
    };
    let record = host.call_with(&host.lease(), proposed, &caller, &attention).await;
    bar.finish_and_clear();
    if wish == TaskWish::Detach && record.outcome.is_running() {
        return outcome::show_left(context, &target, &record);
    }
    outcome::show(context, &target, &record, save)
}

const fn wish(call: &Call) -> TaskWish {
    match (call.detach, call.task) {
        (true, _) => TaskWish::Detach,
        (false, true) => TaskWish::Task,
        (false, false) => TaskWish::AsConfigured,
    }
}

fn caller(call: &Call) -> Caller {
    if call.review {
        let name = "review".to_owned();
        Caller { face: Face::Cli, origin: Origin::Model, name, reference: None }
    } else {
        Caller::person()
    }
}

/// The servers that a call may need: its own, and those that stand in for it.
fn with_stand_ins(config: &Config, id: &ServerId, tool: &str) -> Vec<ServerId> {
    let mut servers = vec![id.clone()];
    if let Some(server) = config.servers.get(id) {
        let of_tool = server.tools.get(tool).and_then(|tool| tool.fallback.as_deref());
        for place in [of_tool, server.fallback.as_deref()].into_iter().flatten() {
            let name = place.rsplit_once('/').map_or(place, |(server, _)| server);
            let known = |wanted: &str| config.servers.keys().find(|id| id.as_str() == wanted);
            servers.extend([place, name].into_iter().find_map(known).cloned());
        }
    }
    servers
}

fn schema(host: &Host, id: &ServerId, tool: &str) -> Option<Value> {
    let fleet = host.fleet().load();
    let tool = fleet.servers.get(id)?.offers.tool(tool)?;
    serde_json::from_str(tool.definition().input_schema?.get()).ok()
}

/// Arguments that are all text, as prompts take them.
pub(crate) fn texts(words: &[String]) -> Result<Json, CliError> {
    let mut object = serde_json::Map::new();
    for word in words {
        let Some((key, value)) = word.split_once('=') else {
            return Err(CliError::usage(format!("the argument `{word}` has no `=`"))
                .with_hint("write it as key=value"));
        };
        object.insert(key.to_owned(), Value::from(value));
    }
    Ok(Json::from(&Value::Object(object)))
}
