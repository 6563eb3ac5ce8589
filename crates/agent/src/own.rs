//! The conversation's own tools: finding and describing tools, and reading long texts in parts.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use switchboard_host::OutcomeKind;
use switchboard_host::prompt::search_tools::{DESCRIBE_TOOL, FIND_TOOLS};
use switchboard_host::prompt::{describe, sentence, shown};
use switchboard_host::record::{SessionId, Sessions};

use crate::offer::Offer;
use crate::turn::{Asked, Consent, Ended};

/// At most so many characters are read at once.
const MOST_CHARACTERS: usize = 40_000;

#[derive(Deserialize)]
struct Find {
    query: String,
    server: Option<String>,
    #[serde(default)]
    limit: Option<usize>,
}

#[derive(Deserialize)]
struct Describe {
    server: String,
    tool: String,
}

#[derive(Deserialize)]
struct Read {
    result: String,
    #[serde(default)]
    from_line: Option<usize>,
    #[serde(default)]
    lines: Option<usize>,
    #[serde(default)]
    containing: Option<String>,
}

/// Runs one of them.
pub(crate) async fn run(
    asked: &Asked,
    offer: &Offer,
    sessions: &Sessions,
    session: &SessionId,
) -> Ended {
    let outcome = match asked.name.as_str() {
        FIND_TOOLS => arguments(asked).map(|find| found(&find, offer)),
        DESCRIBE_TOOL => arguments(asked).and_then(|wanted| described(&wanted, offer)),
        _ => match arguments::<Read>(asked) {
            Err(problem) => Err(problem),
            Ok(read) => match sessions.text(session, &read.result).await {
                Ok(Some(text)) => Ok(part(&read, &text)),
                Ok(None) => Err(format!(
                    "there is no text named `{}`; the name stands where a result was cut",
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
    Ended { consent: Consent::NotNeeded, mistake, ..Ended::not_run(outcome, text) }
}

fn arguments<T: DeserializeOwned>(asked: &Asked) -> Result<T, String> {
    serde_json::from_str(&asked.arguments)
        .map_err(|error| format!("the arguments of `{}` do not fit: {error}", asked.name))
}

fn found(find: &Find, offer: &Offer) -> String {
    let limit = find.limit.unwrap_or(8).clamp(1, 50);
    // Those of other servers are left out afterwards, so more are looked for.
    let wide = if find.server.is_some() { limit * 20 } else { limit };
    let hits = offer.lease.catalog().search(&find.query, wide);
    let of_server = |server: &str| find.server.as_deref().is_none_or(|wanted| wanted == server);
    let lines: Vec<String> = hits
        .iter()
        .map(|(entry, _)| entry)
        .filter(|entry| of_server(entry.server.id.as_str()))
        .take(limit)
        .map(|entry| {
            let definition = entry.tool.definition();
            let said = definition.description.as_deref().unwrap_or_default().to_owned();
            sentence(entry.server.id.as_str(), entry.tool.name(), &said)
        })
        .collect();
    if lines.is_empty() {
        return "No tool fits these words. Try other words, or fewer.".to_owned();
    }
    format!("{}\n\nUse `describe_tool` to see the arguments of one.", lines.join("\n"))
}

fn described(wanted: &Describe, offer: &Offer) -> Result<String, String> {
    shown(&offer.lease, |servers| {
        let server = servers
            .iter()
            .find(|server| server.name == wanted.server)
            .ok_or_else(|| format!("there is no server `{}`", wanted.server))?;
        let tool =
            server.tools.iter().find(|tool| tool.name == wanted.tool).ok_or_else(|| {
                format!("server `{}` has no tool `{}`", wanted.server, wanted.tool)
            })?;
        Ok(describe(server, tool, &offer.options))
    })
}

fn part(read: &Read, text: &str) -> String {
    let total = text.lines().count();
    let from = read.from_line.unwrap_or(1).max(1);
    let most = read.lines.unwrap_or(200).clamp(1, 10_000);
    let wanted = read.containing.as_deref().map(str::to_lowercase);
    let fits = |line: &str| wanted.as_ref().is_none_or(|words| line.to_lowercase().contains(words));
    let numbered = wanted.is_some();
    let mut out = String::new();
    let mut room = MOST_CHARACTERS;
    let mut last = from.saturating_sub(1);
    let lines = text.lines().enumerate().skip(from - 1).filter(|(_, line)| fits(line)).take(most);
    for (place, line) in lines {
        let length = line.chars().count();
        if length > room {
            out.extend(line.chars().take(room));
            out.push_str("\n[this line goes on; it is too long to read in one go]\n");
            last = place + 1;
            break;
        }
        room -= length;
        if numbered {
            out.push_str(&format!("{}: ", place + 1));
        }
        out.push_str(line);
        out.push('\n');
        last = place + 1;
    }
    if out.is_empty() {
        return format!("[No such lines; the text has {total}.]");
    }
    if last < total && !numbered {
        out.push_str(&format!("[lines {from} to {last} of {total}]"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(from_line: usize, lines: usize, containing: Option<&str>) -> Read {
        Read {
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
            (read(1, 2, None), "one\ntwo\n[lines 1 to 2 of 4]"),
            (read(3, 9, None), "Three\nfour\n"),
            (read(1, 9, Some("THREE")), "3: Three\n"),
            (read(9, 1, None), "[No such lines; the text has 4.]"),
        ] {
            assert_eq!(part(&wanted, text), expected);
        }
        let long = "x".repeat(MOST_CHARACTERS + 5);
        let shown = part(&read(1, 1, None), &long);
        assert!(shown.ends_with("[this line goes on; it is too long to read in one go]\n"));
    }
}
