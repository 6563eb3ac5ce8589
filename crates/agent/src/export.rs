//! Exports a stored conversation as a document.

use serde_json::{Value, json};
use switchboard_store::SessionSummary;

use crate::turn::texts::fence;
use crate::turn::{TurnCall, TurnCallKind, TurnEntry, TurnInput, without_undone};

/// Exports a conversation as Markdown, for people.
#[must_use]
pub fn as_markdown(session: &SessionSummary, entries: Vec<TurnEntry>) -> String {
    let title = session.name.as_deref().or(session.opening.as_deref());
    let mut out = format!("# {}\n\n", title.unwrap_or("Conversation").replace('\n', " "));
    out.push_str(&format!(
        "Session `{}`, model `{}`, started {}.\n",
        session.id, session.model, session.created_at
    ));
    let mut open = Vec::new();
    for entry in without_undone(entries) {
        if matches!(
            entry.input,
            TurnInput::Said { .. } | TurnInput::Answered(_) | TurnInput::NoAnswer(_)
        ) {
            out.push_str(&take_unended_calls(&mut open));
        }
        match entry.input {
            TurnInput::Said { text, images } => {
                out.push_str(&format!("\n## User\n\n{text}\n"));
                if !images.is_empty() {
                    out.push_str(&format!("\n*({} images)*\n", images.len()));
                }
            }
            TurnInput::Answered(answer) => {
                out.push_str(&format!("\n## Assistant\n\n{}\n", answer.text.trim_end()));
                open = answer.asked.into_iter().map(Some).collect();
            }
            TurnInput::Ended { slot, end } => {
                let asked = open.get_mut(slot).and_then(Option::take);
                out.push_str(&call_section(asked.as_ref(), end.outcome.as_str(), &end.text));
            }
            TurnInput::Compacted { upto, summary, .. } => {
                out.push_str(&format!(
                    "\n*For the model, this summary replaced the first {upto} messages:*\n\n{}\n",
                    blockquote(&summary)
                ));
            }
            TurnInput::NoAnswer(failure) => {
                out.push_str(&format!("\n*The model request failed: {}*\n", failure.message));
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
    out.push_str(&take_unended_calls(&mut open));
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

/// Formats and removes the calls that never ended: mistakes and calls that were left out.
fn take_unended_calls(open: &mut Vec<Option<TurnCall>>) -> String {
    let section = |asked: TurnCall| {
        let text: &str = match &asked.what {
            TurnCallKind::Mistake { message } => message,
            TurnCallKind::Call { .. } | TurnCallKind::Own => "It did not run.",
        };
        call_section(Some(&asked), "not run", text)
    };
    std::mem::take(open).into_iter().flatten().map(section).collect()
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
    // Models and servers choose names and arguments: these must not add HTML or end the code span.
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
