//! Attaches resources and prompts of servers to a message of the user.

use switchboard_core::{
    Caller, Face, InvalidOutput, Origin, OutcomeKind, ProposedCall, Reply, Target,
};
use switchboard_host::Host;
use switchboard_host::no_arguments;
use switchboard_prompting::{Image, Vision, for_model};
use switchboard_scan::provenance;
use switchboard_terminal::{CliError, exit_code, text_arguments};
use switchboard_text::truncate_middle;
use switchboard_wire::Json;

#[derive(Debug, Default)]
pub(crate) struct UserMessage {
    pub(crate) text: String,
    pub(crate) images: Vec<Image>,
}

/// Reads every `@server:uri` of a line and appends its content to the message.
pub(crate) async fn attach_resources(
    host: &Host,
    session: &str,
    line: &str,
    limit: usize,
) -> Result<UserMessage, CliError> {
    let mut said = UserMessage { text: line.to_owned(), images: Vec::new() };
    for (server, uri) in resource_mentions(host, line) {
        let reply = call_as_person(
            host,
            session,
            ProposedCall::resource(&server, &uri),
            Reply::from_resource_json,
        )
        .await?;
        let shown = for_model(&reply, Vision::Yes);
        let text = truncate_middle(&shown.text, limit)
            .map_or_else(|| shown.text.clone(), |short| short.with_notice(None));
        // The user chose the resource, not its content: label suspicious text.
        let label = provenance(&format!("{server}/{uri}"), &text);
        let text = label.map_or_else(|| text.clone(), |found| format!("{}\n\n{text}", found.label));
        said.text.push_str(&format!(
            "\n\n[Resource `{uri}` of server `{server}`, attached by the user:]\n{text}"
        ));
        said.images.extend(shown.images);
    }
    Ok(said)
}

pub(crate) async fn fetch_prompt(
    host: &Host,
    session: &str,
    server: &str,
    prompt: &str,
    arguments: &[String],
) -> Result<UserMessage, CliError> {
    let arguments: Json =
        if arguments.is_empty() { no_arguments() } else { text_arguments(arguments)? };
    let reply = call_as_person(
        host,
        session,
        ProposedCall::prompt(server, prompt, arguments),
        Reply::from_prompt_json,
    )
    .await?;
    let shown = for_model(&reply, Vision::Yes);
    // Most prompts are a single user message: send its text without the role prefix.
    let text = match shown.text.strip_prefix("user: ") {
        Some(words) if reply.items.len() == 1 => words.to_owned(),
        _ => shown.text,
    };
    Ok(UserMessage { text, images: shown.images })
}

fn resource_mentions(host: &Host, line: &str) -> Vec<(String, String)> {
    let fleet = host.fleet().load();
    let mention = |word: &str| {
        let word = word.strip_prefix('@')?;
        // Server names may contain a colon, so match against the known names.
        let fitting = fleet.servers.keys().filter_map(|id| {
            let uri = word.strip_prefix(id.as_str())?.strip_prefix(':')?;
            // Strip the punctuation of the surrounding sentence.
            let uri = uri.trim_end_matches([',', '.', ';', '!', '?', ')']);
            (!uri.is_empty()).then(|| (id.to_string(), uri.to_owned()))
        });
        fitting.max_by_key(|(server, _)| server.len())
    };
    line.split_whitespace().filter_map(mention).collect()
}

/// Makes a call on behalf of the user and parses its result with `read`.
async fn call_as_person(
    host: &Host,
    session: &str,
    proposed: ProposedCall,
    read: fn(&str) -> Result<Reply, InvalidOutput>,
) -> Result<Reply, CliError> {
    let target: Target = proposed.target.clone();
    let caller = Caller {
        face: Face::Chat,
        origin: Origin::Person,
        name: "person".to_owned(),
        // Taint is tracked per conversation, and this result becomes part of it.
        reference: Some(format!("{session}/attached")),
    };
    let record = host.call(&host.lease(), proposed, &caller).await;
    let outcome = record.outcome;
    if outcome.kind != OutcomeKind::Ok {
        let message = outcome.message.unwrap_or_else(|| outcome.kind.as_str().to_owned());
        let error = CliError::new(exit_code::FAILED, format!("`{target}`: {message}"));
        return Err(match outcome.hint {
            Some(hint) => error.with_hint(hint),
            None => error,
        });
    }
    let bytes = outcome.result.unwrap_or_default();
    read(&String::from_utf8_lossy(&bytes))
        .map_err(|problem| CliError::new(exit_code::FAILED, format!("`{target}`: {problem}")))
}
