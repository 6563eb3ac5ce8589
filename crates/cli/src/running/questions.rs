//! Presents questions about a call that runs in another instance.

use std::pin::Pin;

use switchboard_host::{Ask, AskKind, restore_ask};
use switchboard_store::{AskMatter, AskedFor, Matter, QueuedQuestion, UserDecision};
use switchboard_terminal::{
    CallQuestion, CallResponse, EXPIRED_LINE, answered_elsewhere, has_person, present_ask,
    question_title, reason_with_all, sampling_from_details, talk, tell_completed, tell_declined,
    tell_turned_down, waiting_line,
};
use switchboard_views::CallUpdate;

use crate::context::CommandContext;

/// A question at the terminal, which resolves to the user's answer; dropping it withdraws it.
pub(crate) type PendingQuestion = Pin<Box<dyn Future<Output = UserDecision> + Send>>;

pub(crate) fn ask_person(
    context: &CommandContext,
    asked: QueuedQuestion,
    anyway: Option<String>,
) -> PendingQuestion {
    // A question needs the terminal without progress bars.
    context.printer.clear_bars();
    match asked.matter {
        Matter::Review(review) => {
            let why = reason_with_all(&review.why, anyway.as_deref(), &review.risk);
            let is_tool = review.is_tool();
            let title = question_title(&review.server, &review.target, is_tool);
            let arguments = review.arguments;
            let problem = review.problem;
            let asked = CallQuestion { title, arguments, why, problem, is_tool };
            let stop = context.interrupts.token().clone();
            Box::pin(async move {
                match asked.present().await {
                    CallResponse::Answer(answer) => return UserDecision::from(&answer),
                    CallResponse::Left => stop.cancel(),
                    CallResponse::Gone => {}
                }
                std::future::pending().await
            })
        }
        Matter::Ask(ref matter) => {
            let Some(ask) = rebuild_ask(&asked, matter) else {
                let why = "this version cannot show the question";
                tell_turned_down(&context.printer, &matter.server, why);
                return Box::pin(std::future::ready(UserDecision::Cancel));
            };
            Box::pin(async move {
                match present_ask(ask).await {
                    Some(reply) => UserDecision::from(&reply),
                    None => std::future::pending().await,
                }
            })
        }
    }
}

pub(crate) fn report_event(context: &CommandContext, told: &CallUpdate) {
    let printer = &context.printer;
    // A person who saw the question has to see that it is over, even with `--quiet`.
    let report = |line: &str| if has_person() { talk(line) } else { printer.say(line) };
    match told {
        CallUpdate::Waits { id, matter } => printer.say(&waiting_line(id, matter)),
        CallUpdate::AnsweredElsewhere { by, word } => report(&answered_elsewhere(by, word)),
        CallUpdate::Expired => report(EXPIRED_LINE),
        CallUpdate::Declined { server, message } => tell_declined(printer, server, message),
        CallUpdate::TurnedDown { server, why } => tell_turned_down(printer, server, why),
        CallUpdate::Completed { server } => tell_completed(printer, server),
        CallUpdate::Began { .. }
        | CallUpdate::Progress { .. }
        | CallUpdate::Asked { .. }
        | CallUpdate::Over { .. }
        | CallUpdate::Alive
        | CallUpdate::Ended(_)
        | CallUpdate::Unknown => {}
    }
}

/// Restores a request of a server; `None` if this version cannot present it.
fn rebuild_ask(asked: &QueuedQuestion, matter: &AskMatter) -> Option<Ask> {
    let AskedFor::Consent { details, .. } = &matter.wanted else {
        return restore_ask(asked, matter).ok()?;
    };
    Some(Ask {
        server: matter.server.clone(),
        tool: matter.tool.clone(),
        call: asked.call.clone(),
        reference: asked.reference.clone(),
        message: matter.message.clone(),
        kind: AskKind::Sampling(sampling_from_details(details)?),
    })
}

#[cfg(test)]
mod tests {
    use switchboard_core::SampleRole;
    use switchboard_host::{SamplingAsk, ask_matter};

    use super::*;

    #[test]
    fn what_a_server_would_ask_a_model_comes_through_whole() {
        let wanted = SamplingAsk {
            model: "small".to_owned(),
            system: "Be brief.".to_owned(),
            messages: vec![
                (SampleRole::User, "What is it?".to_owned()),
                (SampleRole::Assistant, "A thing.".to_owned()),
            ],
            tools: vec!["look".to_owned()],
            max_tokens: 50,
        };
        let ask = Ask {
            server: "notes".to_owned(),
            tool: Some("summarize".to_owned()),
            call: Some("7".to_owned()),
            reference: None,
            message: "to sum it up".to_owned(),
            kind: AskKind::Sampling(wanted),
        };
        let matter = ask_matter(&ask);
        let asked =
            QueuedQuestion { matter, call: ask.call.clone(), reference: None, caller: None };
        let text = serde_json::to_string(&asked).unwrap();
        let read: QueuedQuestion = serde_json::from_str(&text).unwrap();
        let Matter::Ask(matter) = &read.matter else { panic!("{read:?}") };
        let again = rebuild_ask(&read, matter).unwrap();
        assert_eq!(format!("{again:?}"), format!("{ask:?}"));
    }
}
