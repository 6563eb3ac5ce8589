//! Presents sampling requests of servers: shown in full, and sent only with consent.

use serde_json::Value;
use switchboard_core::SampleRole;
use switchboard_host::{Ask, SamplingAsk};
use switchboard_store::AskReply;
use switchboard_text::{escape, escape_line};

use crate::form::{Typist, is_yes};

pub(crate) fn ask_person(
    ask: &Ask,
    wanted: &SamplingAsk,
    person: &mut impl Typist,
) -> Result<AskReply, AskReply> {
    let server = escape_line(&ask.server);
    let tool = ask.tool.as_deref().map(|tool| format!(", for {}", escape_line(tool)));
    let tool = tool.unwrap_or_default();
    let model = escape_line(&wanted.model);
    let mut text = format!("\nServer {server} wants to ask the model {model}{tool}:\n");
    if !wanted.system.is_empty() {
        text.push_str(&format!("instructions:\n{}", mark_lines(&wanted.system)));
    }
    for (role, words) in &wanted.messages {
        let role = match role {
            SampleRole::User => "question",
            SampleRole::Assistant => "answer so far",
        };
        text.push_str(&format!("{role}:\n{}", mark_lines(words)));
    }
    if !wanted.tools.is_empty() {
        let tools: Vec<_> = wanted.tools.iter().map(|tool| escape_line(tool)).collect();
        text.push_str(&format!("tools of the server: {}\n", tools.join(", ")));
    }
    let most = wanted.max_tokens;
    text.push_str(&format!(
        "(The answer, at most {most} tokens, is sent to that server, at your cost.)\n"
    ));
    person.show(&text)?;
    Ok(match is_yes(&person.line("Ask the model? [y/N] ")?) {
        true => AskReply::Accept(None),
        false => AskReply::Decline,
    })
}

/// Parses a sampling request from the details in the queue; `None` for other details.
pub fn sampling_from_details(details: &Value) -> Option<SamplingAsk> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let said = |one: &Value| {
        let role = match one.get("role")?.as_str()? {
            "user" => SampleRole::User,
            "assistant" => SampleRole::Assistant,
            _ => return None,
        };
        Some((role, text(one.get("text")?)?))
    };
    Some(SamplingAsk {
        model: text(details.get("model")?)?,
        system: text(details.get("system")?)?,
        messages: details.get("messages")?.as_array()?.iter().map(said).collect::<Option<_>>()?,
        tools: details.get("tools")?.as_array()?.iter().map(text).collect::<Option<_>>()?,
        max_tokens: usize::try_from(details.get("maxTokens")?.as_u64()?).ok()?,
    })
}

/// Marks every line from the server, so that none looks like our own output.
fn mark_lines(text: &str) -> String {
    escape(text).lines().map(|line| format!("  | {line}\n")).collect()
}
