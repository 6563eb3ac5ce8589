//! Puts a review to the person at the terminal: the exact call, and four answers.

use std::io::Write as _;

use switchboard_host::format::{escape, escape_line};
use switchboard_host::policy::{Answer, Question};
use switchboard_host::review::{Answering, Reviewer, Unanswered};

/// The person at this terminal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terminal;

impl Reviewer for Terminal {
    fn ask<'a>(&'a self, question: &'a Question) -> Answering<'a> {
        let text = shown(question);
        Box::pin(async move {
            // Reading from the terminal blocks; the rest of the program goes on.
            let answer = tokio::task::spawn_blocking(move || read_answer(&text)).await;
            answer.unwrap_or_else(|_| Err(nobody()))
        })
    }
}

fn nobody() -> Unanswered {
    let message = "the question was left without an answer".to_owned();
    Unanswered { message, hint: None }
}

/// The question with everything that the answer decides about.
fn shown(question: &Question) -> String {
    let call = question.call();
    let (server, name) = (escape_line(&call.target().server), escape_line(&call.target().name));
    let arguments = call.arguments().as_str();
    // Set out nicely only where that shows exactly what is sent.
    let pretty = serde_json::from_str::<serde_json::Value>(arguments)
        .ok()
        .filter(|value| serde_json::to_string(value).is_ok_and(|text| text == arguments))
        .and_then(|value| serde_json::to_string_pretty(&value).ok())
        .unwrap_or_else(|| arguments.to_owned());
    let always = if question.asks_anyway() {
        "run, and allow this tool from when `settings.autoApprove` is on"
    } else {
        "run, and always allow this tool"
    };
    format!(
        "\nRun {name} on {server}?\n{}\n({} bytes of arguments; asked because {})\n  \
         [r] run   [a] {always}   [s] skip   [t] reject and tell what to do instead\n",
        escape(&pretty),
        arguments.len(),
        escape_line(question.why()),
    )
}

/// Asks until there is an answer. Nothing is locked while the person thinks: others have to talk.
fn read_answer(text: &str) -> Result<Answer, Unanswered> {
    say(text)?;
    for _ in 0..5 {
        say("> ")?;
        match line()?.trim() {
            "r" | "run" | "y" | "yes" => return Ok(Answer::Run),
            "a" | "always" => return Ok(Answer::Always),
            "s" | "skip" | "n" | "no" => return Ok(Answer::Skip),
            "t" | "tell" | "reject" => {
                say("What should be done instead? ")?;
                return Ok(Answer::Reject(line()?.trim().to_owned()));
            }
            _ => say("Please answer r, a, s or t.\n")?,
        }
    }
    Err(nobody())
}

fn say(text: &str) -> Result<(), Unanswered> {
    let mut out = std::io::stderr();
    write!(out, "{text}").and_then(|()| out.flush()).map_err(|_| nobody())
}

fn line() -> Result<String, Unanswered> {
    let mut line = String::new();
    match std::io::stdin().read_line(&mut line) {
        Ok(0) | Err(_) => Err(nobody()),
        Ok(_) => Ok(line),
    }
}
