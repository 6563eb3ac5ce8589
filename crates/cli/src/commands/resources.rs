//! Lists and reads resources.

use std::path::Path;

use serde_json::{Value, json};
use switchboard_host::connect::definition;
use switchboard_host::format::{Item, Reply};
use switchboard_host::{Attention, Caller, ProposedCall};

use crate::args::OfServer;
use crate::commands::{call, outcome, tools};
use crate::context::Context;
use crate::error::CliError;
use crate::exit_code;
use crate::ui::table::table;

/// Lists resources and templates.
pub(crate) async fn list(context: &Context, of: &OfServer) -> Result<u8, CliError> {
    let host = tools::start(context, of).await?;
    let lease = host.lease();
    let mut rows = Vec::new();
    let mut all = Vec::new();
    for server in lease.catalog().servers() {
        let resources = server.offers.resources.iter().map(|item| (item, "resource"));
        let templates = server.offers.templates.iter().map(|item| (item, "template"));
        for (item, kind) in resources.chain(templates) {
            let about = definition(item);
            let name = about.title.or(about.name).unwrap_or_default();
            let mime = about.mime_type.unwrap_or_default();
            rows.push([server.id.to_string(), kind.to_owned(), item.key.to_string(), mime, name]);
            let raw: Value = serde_json::from_str(item.raw.get()).unwrap_or_default();
            all.push(json!({"server": server.id.as_str(), "kind": kind, "definition": raw}));
        }
    }
    let shown = if context.printer.json {
        context.printer.json(&all)
    } else {
        let heading = ["server", "kind", "address", "type", "name"];
        context.printer.data(&table(context.printer.reader(), heading, &rows))
    };
    host.stop().await;
    shown.map(|()| exit_code::OK)
}

/// Reads a resource, to the terminal or to a file.
pub(crate) async fn read(
    context: &Context,
    server: &str,
    uri: &str,
    output: Option<&Path>,
) -> Result<u8, CliError> {
    let host = tools::start(context, &OfServer { server: Some(server.to_owned()) }).await?;
    let proposed = ProposedCall::resource(server, uri);
    let code = match output {
        None => call::run(context, &host, proposed, call::How::person()).await,
        Some(file) => {
            let target = proposed.target.clone();
            let attention =
                Attention { cancel: context.interrupts.token().clone(), ..Attention::default() };
            let caller = Caller::person();
            let record = host.call_with(&host.lease(), proposed, &caller, &attention).await;
            let text = record.outcome.result.as_ref().map(|bytes| String::from_utf8_lossy(bytes));
            let written = match text.as_deref().map(|text| outcome::read(&target, text)) {
                Some(Ok(reply)) => write(context, &reply, file).map(Some),
                _ => Ok(None),
            };
            match written {
                Ok(Some(code)) if !context.printer.json => Ok(code),
                Ok(_) => outcome::show(context, &target, &record, None),
                Err(error) => Err(error),
            }
        }
    };
    host.stop().await;
    code
}

fn write(context: &Context, reply: &Reply, file: &Path) -> Result<u8, CliError> {
    let mut text = String::new();
    for item in &reply.items {
        match item {
            Item::Resource { blob: Some(blob), .. } => {
                outcome::write_base64(&file.to_owned(), blob)?;
                context.printer.say(&format!("wrote {}", file.display()));
                return Ok(exit_code::OK);
            }
            Item::Resource { text: Some(part), .. } => text.push_str(part),
            _ => {}
        }
    }
    std::fs::write(file, text).map_err(|error| {
        CliError::new(exit_code::TROUBLE, format!("cannot write `{}`: {error}", file.display()))
    })?;
    context.printer.say(&format!("wrote {}", file.display()));
    Ok(exit_code::OK)
}
