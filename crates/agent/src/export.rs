//! Exports a stored conversation as a document.

use serde_json::{Value, json};
use switchboard_store::SessionSummary;

use crate::turn::texts::fence;
use crate::turn::{TurnCall, TurnCallKind, TurnEntry, TurnInput, without_undone};

/// Exports a conversation as Markdown, for people.
#[must_use]
pub fn as_markdown(session: &SessionSummary, entries: Vec<TurnEntry>) -> String {
    let title = session.name.as_deref().or(session.opening.as_deref());
    let mut out = format!("# {}\n\n", title.unwrap_or("A conversation").replace('\n', " "));
    out.push_str(&format!(
        "Session `{}`, model `{}`, begun {}.\n",
        session.id, session.model, session.created_at
    ));
    let mut open = OpenCalls::default();
    for entry in without_undone(entries) {
        if matches!(
            entry.input,
            TurnInput::Said { .. } | TurnInput::Answered(_) | TurnInput::NoAnswer(_)
        ) {
            out.push_str(&open.take());
        }
        match entry.input {
            TurnInput::Said { text, images } => {
                out.push_str(&format!("\n## User\n\n{text}\n"));
                if !images.is_empty() {
                    out.push_str(&format!("\n*({} pictures)*\n", images.len()));
                }
            }
            TurnInput::Answered(answer) => {
                out.push_str(&format!("\n## Assistant\n\n{}\n", answer.text.trim_end()));
                open.asked = answer.asked.into_iter().map(Some).collect();
            }
            TurnInput::Ended { slot, end } => {
                let asked = open.asked.get_mut(slot).and_then(Option::take);
                out.push_str(&call_section(asked.as_ref(), end.outcome.as_str(), &end.text));
            }
            TurnInput::Compacted { upto, summary, .. } => {
                out.push_str(&format!(
                    "\n*The first {upto} messages were cut for the model; in their place:*\n\n{}\n",
                    blockquote(&summary)
                ));
            }
            TurnInput::NoAnswer(failure) => {
                out.push_str(&format!("\n*The model could not be asked: {}*\n", failure.message));
            }
            TurnInput::Cancelled(interruption) => {
                if !interruption.heard.trim().is_empty() {
                    out.push_str(&format!("\n## Assistant\n\n{}\n", interruption.heard));
                }
                out.push_str("\n*Stopped by the user.*\n");
            }
            TurnInput::Began { .. }
            | TurnInput::Decided { .. }
            | TurnInput::Retried
            | TurnInput::Undone { .. } => {}
        }
    }
    out.push_str(&open.take());
    out
}

/// Exports a conversation as JSON, with every step as it was stored.
#[must_use]
pub fn as_json(session: &SessionSummary, entries: &[TurnEntry]) -> Value {
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

/// Calls that have not ended.
#[derive(Default)]
struct OpenCalls {
    asked: Vec<Option<TurnCall>>,
}

impl OpenCalls {
    /// Formats the calls that never ended: mistakes and calls that were left out.
    fn take(&mut self) -> String {
        let left = std::mem::take(&mut self.asked).into_iter().flatten();
        left.map(|asked| {
            let text = match &asked.what {
                TurnCallKind::Mistake { message } => message.clone(),
                TurnCallKind::Call { .. } | TurnCallKind::Own => "It did not run.".to_owned(),
            };
            call_section(Some(&asked), "not run", &text)
        })
        .collect()
    }
}

fn call_section(asked: Option<&TurnCall>, word: &str, text: &str) -> String {
    let (name, arguments) = match asked.map(|asked| (&asked.what, asked)) {
        Some((TurnCallKind::Call { server, target, arguments, .. }, _)) => {
            (format!("{server}/{target}"), arguments.as_str())
        }
        Some((TurnCallKind::Own | TurnCallKind::Mistake { .. }, asked)) => {
            (asked.name.clone(), asked.arguments.as_str())
        }
        None => ("call".to_owned(), "{}"),
    };
    format!(
        "\n<details><summary>{}: {word}</summary>\n\n`{}`\n\n{}\n\n</details>\n",
        name.replace('<', "&lt;"),
        arguments.replace('`', "'"),
        fence(text)
    )
}

fn blockquote(text: &str) -> String {
    text.lines().map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n")
}
