//! Presents questions of servers: a form field by field, a URL before it is opened.

use serde_json::{Map, Value};
use switchboard_host::{Ask, AskKind, Choice, Field, FieldKind, Form, NumberKind};
use switchboard_store::AskReply;
use switchboard_text::{escape, escape_line};

use crate::{address, sampling};

/// Maximum number of attempts per field, and of corrections per form.
const MAX_TRIES: usize = 10;

const DECLINE_WORD: &str = "!decline";

pub(crate) trait Typist {
    /// Shows a text that is already escaped.
    fn show(&mut self, text: &str) -> Result<(), AskReply>;
    /// Prompts for a line; the error is the reply to the whole question.
    fn line(&mut self, question: &str) -> Result<String, AskReply>;
    /// Opens a URL in the browser; the error is the reason of a failure.
    fn open(&mut self, url: &str) -> Result<(), String>;
}

pub(crate) fn ask_person(ask: &Ask, person: &mut impl Typist) -> AskReply {
    let reply = match &ask.kind {
        AskKind::Form(form) => person.show(&heading(ask)).and_then(|()| fill_in(form, person)),
        AskKind::Url(url) => {
            person.show(&heading(ask)).and_then(|()| address::ask_person(url, person))
        }
        AskKind::Sampling(wanted) => sampling::ask_person(ask, wanted, person),
    };
    reply.unwrap_or_else(|ended| ended)
}

fn heading(ask: &Ask) -> String {
    let server = escape_line(&ask.server);
    let tool = ask.tool.as_deref().map(|tool| format!(", for {}", escape_line(tool)));
    let call = ask.call.as_deref().map(|call| format!(" (call {})", escape_line(call)));
    let tool = tool.unwrap_or_default();
    let call = call.unwrap_or_default();
    // Every line from the server is marked, so that none looks like our own output.
    let message: String =
        escape(&ask.message).lines().map(|line| format!("  | {line}\n")).collect();
    format!("\nServer {server} asks you{tool}{call}:\n{message}")
}

fn fill_in(form: &Form, person: &mut impl Typist) -> Result<AskReply, AskReply> {
    person.show(&format!(
        "(Your input is sent to that server. Enter accepts the value in [brackets]; {DECLINE_WORD} \
         declines; Ctrl-C leaves.)\n"
    ))?;
    let mut content = Map::new();
    for field in &form.fields {
        fill_in_field(field, &mut content, person)?;
    }
    for _ in 0..MAX_TRIES {
        let Err(problems) = form.check(&content) else { return send(form, content, person) };
        for problem in problems {
            let field =
                form.fields.iter().find(|field| Some(&field.name) == problem.field.as_ref());
            let label = field.map(|field| escape_line(field.label()).into_owned());
            person.show(&format!("{} {problem}\n", label.unwrap_or_default()))?;
            if let Some(field) = field {
                fill_in_field(field, &mut content, person)?;
            }
        }
    }
    person.show("The input does not match the form, so nothing is sent.\n")?;
    Ok(AskReply::Cancel)
}

fn fill_in_field(
    field: &Field,
    content: &mut Map<String, Value>,
    person: &mut impl Typist,
) -> Result<(), AskReply> {
    person.show(&about(field))?;
    for _ in 0..MAX_TRIES {
        let typed = person.line(&question(field))?;
        if typed.trim() == DECLINE_WORD {
            return Err(AskReply::Decline);
        }
        match field.read(&typed) {
            Ok(Some(value)) => {
                content.insert(field.name.clone(), value);
                return Ok(());
            }
            Ok(None) => {
                content.remove(&field.name);
                return Ok(());
            }
            Err(problem) => person.show(&format!("  It {}.\n", escape_line(&problem)))?,
        }
    }
    Err(AskReply::Cancel)
}

fn about(field: &Field) -> String {
    let need = if field.required { "required" } else { "optional" };
    let mut text = format!("\n{} ({}; {need})\n", escape_line(field.label()), kind(&field.kind));
    if let Some(description) = field.description.as_deref().filter(|text| !text.is_empty()) {
        text.push_str(&format!("  {}\n", escape_line(description)));
    }
    match &field.kind {
        FieldKind::Choice(options) | FieldKind::Choices { options, .. } => {
            for (at, option) in options.iter().enumerate() {
                text.push_str(&format!("  {}. {}\n", at + 1, escape_line(option.label())));
            }
        }
        FieldKind::Text { .. } | FieldKind::Number { .. } | FieldKind::Boolean => {}
    }
    text
}

fn kind(kind: &FieldKind) -> String {
    let between = |least: Option<String>, most: Option<String>, unit: &str| match (least, most) {
        (None, None) => String::new(),
        (Some(least), None) => format!(", at least {least}{unit}"),
        (None, Some(most)) => format!(", at most {most}{unit}"),
        (Some(least), Some(most)) => format!(", {least} to {most}{unit}"),
    };
    let count = |count: &Option<u64>| count.as_ref().map(ToString::to_string);
    let bound = |bound: &Option<f64>| bound.as_ref().map(ToString::to_string);
    match kind {
        FieldKind::Text { format, shortest, longest } => {
            let what = format.map_or("text", |format| format.description());
            format!("{what}{}", between(count(shortest), count(longest), " characters"))
        }
        FieldKind::Number { kind, least, most } => {
            let what = match kind {
                NumberKind::Integer => "whole number",
                NumberKind::Number => "number",
            };
            format!("{what}{}", between(bound(least), bound(most), ""))
        }
        FieldKind::Boolean => "y or n".to_owned(),
        FieldKind::Choice(_) => "the number of one of these".to_owned(),
        FieldKind::Choices { fewest, most, .. } => {
            let how_many = between(count(fewest), count(most), " of them");
            format!("comma-separated numbers{how_many}")
        }
    }
}

fn question(field: &Field) -> String {
    match &field.default {
        Some(default) => format!("  [{}] > ", value_text(field, default)),
        None => "  > ".to_owned(),
    }
}

/// Returns a value as a person would type or read it.
fn value_text(field: &Field, value: &Value) -> String {
    let label = |options: &[Choice], value: &Value| {
        let option = options.iter().find(|option| Some(option.value.as_str()) == value.as_str());
        option.map_or_else(|| value.to_string(), |option| option.label().to_owned())
    };
    let text = match (&field.kind, value) {
        (FieldKind::Choice(options), value) => label(options, value),
        (FieldKind::Choices { options, .. }, Value::Array(values)) => {
            let labels: Vec<String> = values.iter().map(|value| label(options, value)).collect();
            labels.join(", ")
        }
        (_, Value::Bool(value)) => if *value { "y" } else { "n" }.to_owned(),
        (_, Value::String(text)) => text.clone(),
        (_, value) => value.to_string(),
    };
    escape_line(&text).into_owned()
}

fn send(
    form: &Form,
    content: Map<String, Value>,
    person: &mut impl Typist,
) -> Result<AskReply, AskReply> {
    let mut text = "\nThis would be sent:\n".to_owned();
    for field in &form.fields {
        let value = content.get(&field.name).map(|value| value_text(field, value));
        let value = value.unwrap_or_else(|| "(omitted)".to_owned());
        text.push_str(&format!("  {}: {value}\n", escape_line(field.label())));
    }
    person.show(&text)?;
    let said = person.line("Send it? [y/N] ")?;
    Ok(match is_yes(&said) {
        true => AskReply::Accept(Some(content)),
        false => AskReply::Decline,
    })
}

/// Returns whether the input is an explicit yes.
pub fn is_yes(said: &str) -> bool {
    matches!(said.trim().to_lowercase().as_str(), "y" | "yes")
}

#[cfg(test)]
#[path = "form_tests.rs"]
mod tests;
