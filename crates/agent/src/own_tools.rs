//! The conversation's own tools: searching and describing tools, and reading long texts in parts.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use switchboard_catalog::CatalogEntry;
use switchboard_core::{OutcomeKind, TargetKind};
use switchboard_prompting::{
    DESCRIBE_TOOL, FIND_TOOLS, describe_tool, tool_line, with_shown_servers,
};
use switchboard_store::{SessionId, SessionStore};

use crate::tool_offer::ToolOffer;
use crate::turn::{CallEnd, Consent, TurnCall};

/// Maximum number of characters per read.
const MAX_READ_CHARS: usize = 40_000;
// Far below `MAX_READ_CHARS`: every read returns at least one line, so a model can always read on.
const MAX_LINE_CHARS: usize = 2_000;

#[derive(Deserialize)]
struct FindArguments {
    query: String,
    server: Option<String>,
    #[serde(default)]
    limit: Option<usize>,
}

#[derive(Deserialize)]
struct DescribeArguments {
    server: String,
    tool: String,
}

#[derive(Deserialize)]
struct ReadArguments {
    result: String,
    #[serde(default)]
    from_line: Option<usize>,
    #[serde(default)]
    lines: Option<usize>,
    #[serde(default)]
    containing: Option<String>,
}

/// Runs one of the conversation's own tools.
pub(crate) async fn run(
    asked: &TurnCall,
    offer: &ToolOffer,
    sessions: &SessionStore,
    session: &SessionId,
) -> CallEnd {
    let outcome = match asked.name.as_str() {
        FIND_TOOLS => arguments(asked).map(|find| matching_tools(&find, offer)),
        DESCRIBE_TOOL => arguments(asked).and_then(|wanted| tool_description(&wanted, offer)),
        // `read_result`, the only other tool that resolves to `TurnCallKind::Own`.
        _ => match arguments::<ReadArguments>(asked) {
            Err(problem) => Err(problem),
            Ok(read) => match sessions.text(session, &read.result).await {
                Ok(Some(text)) => Ok(read_part(&read, &text)),
                Ok(None) => Err(format!(
                    "no stored result named `{}`; the note in a truncated result has its name",
                    read.result
                )),
                Err(error) => Err(error.to_string()),
            },
        },
    };
    let (outcome, text, mistake) = match outcome {
        Ok(text) => (OutcomeKind::Ok, text, false),
        Err(problem) => (OutcomeKind::NotSent, format!("Nothing was done: {problem}."), true),
    };
    CallEnd { consent: Consent::NotNeeded, mistake, ..CallEnd::not_run(outcome, text) }
}

/// Returns the handle of the text that the call reads, if it is a `read_result` call.
pub(crate) fn result_handle(asked: &TurnCall) -> Option<String> {
    let is_reading = !matches!(asked.name.as_str(), FIND_TOOLS | DESCRIBE_TOOL);
    let read = Some(asked).filter(|_| is_reading).map(arguments::<ReadArguments>)?;
    read.ok().map(|read| read.result)
}

fn arguments<T: DeserializeOwned>(asked: &TurnCall) -> Result<T, String> {
    serde_json::from_str(&asked.arguments)
        .map_err(|error| format!("invalid arguments for `{}`: {error}", asked.name))
}

fn matching_tools(find: &FindArguments, offer: &ToolOffer) -> String {
    // The model picks the number, and every hit costs tokens.
    let limit = find.limit.unwrap_or(8).clamp(1, 50);
    // Other servers' tools are filtered out afterwards, so search for more.
    let wide = if find.server.is_some() { limit * 20 } else { limit };
    let hits = offer.lease.catalog().search(&find.query, wide);
    // The catalog also holds tools that the rules forbid to every caller.
    let is_listed = |entry: &&CatalogEntry<'_>| {
        offer.lease.is_listed(TargetKind::Tool, entry.server.id.as_str(), entry.tool.name())
    };
    let of_server = |server: &str| find.server.as_deref().is_none_or(|wanted| wanted == server);
    let lines: Vec<String> = hits
        .iter()
        .map(|(entry, _)| entry)
        .filter(|entry| of_server(entry.server.id.as_str()) && is_listed(entry))
        .take(limit)
        .map(|entry| {
            let definition = entry.tool.definition();
            let said = definition.description.as_deref().unwrap_or_default().to_owned();
            tool_line(entry.server.id.as_str(), entry.tool.name(), &said)
        })
        .collect();
    if lines.is_empty() {
        return "No tool matches the query. Try other or fewer words.".to_owned();
    }
    format!("{}\n\nUse `describe_tool` to see the arguments of one.", lines.join("\n"))
}

fn tool_description(wanted: &DescribeArguments, offer: &ToolOffer) -> Result<String, String> {
    with_shown_servers(&offer.lease, |servers| {
        let server = servers
            .iter()
            .find(|server| server.name == wanted.server)
            .ok_or_else(|| format!("unknown server `{}`", wanted.server))?;
        let tool =
            server.tools.iter().find(|tool| tool.name == wanted.tool).ok_or_else(|| {
                format!("server `{}` has no tool `{}`", wanted.server, wanted.tool)
            })?;
        Ok(describe_tool(server, tool, &offer.options))
    })
}

/// Returns the lines of a text, with lines over `MAX_LINE_CHARS` split.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| {
        let mut rest = Some(line);
        std::iter::from_fn(move || {
            let line = rest.take()?;
            let end = line.char_indices().nth(MAX_LINE_CHARS).map(|(place, _)| place);
            let (head, tail) = line.split_at_checked(end.unwrap_or(line.len()))?;
            rest = end.map(|_| tail);
            Some(head)
        })
    })
}

fn read_part(read: &ReadArguments, text: &str) -> String {
    let total = lines(text).count();
    let from = read.from_line.unwrap_or(1).max(1);
    let most = read.lines.unwrap_or(200).clamp(1, 10_000);
    let wanted = read.containing.as_deref().map(str::to_lowercase);
    let fits = |line: &str| wanted.as_ref().is_none_or(|words| line.to_lowercase().contains(words));
    let mut out = String::new();
    let mut room = MAX_READ_CHARS;
    let mut next = None;
    let found = lines(text).enumerate().skip(from - 1).filter(|(_, line)| fits(line));
    for (count, (place, line)) in found.enumerate() {
        let length = line.chars().count();
        if count == most || length > room {
            next = Some(place + 1);
            break;
        }
        room -= length;
        // Matches are not consecutive: their numbers let the model read the lines around them.
        if wanted.is_some() {
            out.push_str(&format!("{}: ", place + 1));
        }
        out.push_str(line);
        out.push('\n');
    }
    if out.is_empty() {
        return format!("[No such lines; the text has {total} lines.]");
    }
    if let Some(next) = next {
        out.push_str(&format!("[continues at line {next} of {total}]"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(from_line: usize, lines: usize, containing: Option<&str>) -> ReadArguments {
        ReadArguments {
            result: "r1".to_owned(),
            from_line: Some(from_line),
            lines: Some(lines),
            containing: containing.map(str::to_owned),
        }
    }

    #[test]
    fn a_long_text_is_read_in_parts_or_by_words() {
        let text = "one\ntwo\nThree\nfour\n";
        for (wanted, expected) in [
            (read(1, 2, None), "one\ntwo\n[continues at line 3 of 4]"),
            (read(3, 9, None), "Three\nfour\n"),
            (read(1, 9, Some("THREE")), "3: Three\n"),
            (read(9, 1, None), "[No such lines; the text has 4 lines.]"),
        ] {
            assert_eq!(read_part(&wanted, text), expected);
        }
    }

    #[test]
    fn all_of_a_long_line_can_be_reached() {
        let long: String = (0..20_000).map(|number| format!("{number:06}")).collect();
        let mut all = String::new();
        let mut from = 1;
        for _ in 0..10 {
            let shown = read_part(&read(from, 10_000, None), &long);
            let (text, more) = shown.split_once('[').unwrap_or((&shown, ""));
            all.extend(text.lines());
            let Some(next) = more.strip_prefix("continues at line ") else { break };
            from = next.split(' ').next().unwrap().parse().unwrap();
        }
        assert_eq!(all, long);
        assert_eq!(lines("é\n\nab").collect::<Vec<_>>(), ["é", "", "ab"]);
    }
}
