//! A kept conversation as a document.

use serde_json::{Value, json};
use switchboard_host::outcome::OutcomeKind;
use switchboard_host::record::SessionSummary;

use crate::turn::{Ended, Entry, Input, What, replayed};

/// The conversation as Markdown, for people.
#[must_use]
pub fn as_markdown(session: &SessionSummary, entries: Vec<Entry>) -> String {
    let title = session.name.as_deref().or(session.opening.as_deref());
    let mut out = format!("# {}\n\n", title.unwrap_or("A conversation").replace('\n', " "));
    out.push_str(&format!(
        "Session `{}`, model `{}`, begun {}.\n",
        session.id, session.model, session.created_at
    ));
    let mut asked = Vec::new();
    for entry in replayed(entries) {
        match entry.input {
            Input::Said { text, images } => {
                out.push_str(&format!("\n## User\n\n{text}\n"));
                if !images.is_empty() {
                    out.push_str(&format!("\n*({} pictures)*\n", images.len()));
                }
            }
            Input::Answered(answer) => {
                out.push_str(&format!("\n## Assistant\n\n{}\n", answer.text.trim_end()));
                asked = answer.asked;
            }
            Input::Ended { slot, end } => {
                let what = asked.get(slot).map(|asked| (&asked.what, asked.name.as_str()));
                let (name, arguments) = match what {
                    Some((What::Call { server, target, arguments, .. }, _)) => {
                        (format!("{server}/{target}"), arguments.as_str())
                    }
                    Some((_, name)) => (name.to_owned(), ""),
                    None => ("call".to_owned(), ""),
                };
                out.push_str(&call(&name, arguments, &end));
            }
            Input::Compacted { upto, summary } => {
                out.push_str(&format!(
                    "\n*The first {upto} messages were cut for the model; in their place:*\n\n{}\n",
                    quoted(&summary)
                ));
            }
            Input::NoAnswer(failure) => {
                out.push_str(&format!("\n*The model could not be asked: {}*\n", failure.message));
            }
            Input::Cancelled(_) => out.push_str("\n*Stopped by the user.*\n"),
            Input::Began { .. } | Input::Decided { .. } | Input::Retried | Input::Undone { .. } => {
            }
        }
    }
    out
}

/// The conversation as JSON, with every step as it was kept.
#[must_use]
pub fn as_json(session: &SessionSummary, entries: &[Entry]) -> Value {
    let steps: Vec<Value> = entries
        .iter()
        .map(|entry| json!({ "number": entry.number, "input": entry.input }))
        .collect();
    json!({
        "session": session.id.to_string(),
        "name": session.name,
        "model": session.model,
        "created": session.created_at.to_string(),
        "parent": session.parent.as_ref().map(|(id, step)| {
            json!({ "session": id.to_string(), "step": step })
        }),
        "steps": steps,
    })
}

fn call(name: &str, arguments: &str, end: &Ended) -> String {
    let word = if end.outcome == OutcomeKind::Ok { "ok" } else { end.outcome.as_str() };
    let fence = fence(&end.text);
    format!(
        "\n<details><summary>{}: {word}</summary>\n\n`{}`\n\n{fence}\n{}\n{fence}\n\n</details>\n",
        name.replace('<', "&lt;"),
        arguments.replace('`', "'"),
        end.text
    )
}

/// A fence longer than any in the text.
fn fence(text: &str) -> String {
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    "`".repeat((longest + 1).max(3))
}

fn quoted(text: &str) -> String {
    text.lines().map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n")
}
