//! Lists and fetches prompts.

use serde_json::{Value, json};
use switchboard_host::ProposedCall;
use switchboard_host::connect::definition;

use crate::args::OfServer;
use crate::commands::{call, tools};
use crate::context::Context;
use crate::error::CliError;
use crate::exit_code;
use crate::ui::table::table;

/// Lists prompts.
pub(crate) async fn list(context: &Context, of: &OfServer) -> Result<u8, CliError> {
    let host = tools::start(context, of).await?;
    let lease = host.lease();
    let mut rows = Vec::new();
    let mut all = Vec::new();
    for server in lease.catalog().servers() {
        for item in &server.offers.prompts {
            let about = definition(item);
            let wanted: Vec<Value> = about
                .arguments
                .and_then(|raw| serde_json::from_str(raw.get()).ok())
                .unwrap_or_default();
            let names: Vec<String> = wanted.iter().map(argument).collect();
            let description = tools::first_line(about.description.as_deref().unwrap_or_default());
            rows.push([server.id.to_string(), item.key.to_string(), names.join(", "), description]);
            let raw: Value = serde_json::from_str(item.raw.get()).unwrap_or_default();
            all.push(json!({"server": server.id.as_str(), "definition": raw}));
        }
    }
    let shown = if context.printer.json {
        context.printer.json(&all)
    } else {
        let heading = ["server", "prompt", "arguments", "description"];
        context.printer.data(&table(context.printer.reader(), heading, &rows))
    };
    host.stop().await;
    shown.map(|()| exit_code::OK)
}

/// Fetches a prompt.
pub(crate) async fn get(
    context: &Context,
    server: &str,
    prompt: &str,
    words: &[String],
) -> Result<u8, CliError> {
    let arguments = call::texts(words)?;
    let host = tools::start(context, &OfServer { server: Some(server.to_owned()) }).await?;
    let proposed = ProposedCall::prompt(server, prompt, arguments);
    let code = call::run(context, &host, proposed, call::How::person()).await;
    host.stop().await;
    code
}

fn argument(argument: &Value) -> String {
    let name = argument.get("name").and_then(Value::as_str).unwrap_or("?");
    let required = argument.get("required").and_then(Value::as_bool).unwrap_or(false);
    if required { name.to_owned() } else { format!("{name}?") }
}
