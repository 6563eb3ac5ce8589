//! The servers whose results a stored conversation contains, to restore its taint.

use switchboard_core::OutcomeKind;

use crate::turn::{TurnCall, TurnCallKind, TurnEntry, TurnInput};

/// Returns the server and target of each answered call, undone or not: the model has read both.
pub(crate) fn answer_sources(entries: &[TurnEntry]) -> Vec<(&str, &str)> {
    let mut results = Vec::new();
    let mut asked: &[TurnCall] = &[];
    for entry in entries {
        match &entry.input {
            TurnInput::Answered(answer) => asked = &answer.asked,
            TurnInput::Ended { slot, end } => {
                let target = asked.get(*slot).and_then(call_target);
                results.extend(target.filter(|_| has_answered(end.outcome)));
            }
            TurnInput::Began { .. }
            | TurnInput::Said { .. }
            | TurnInput::NoAnswer(_)
            | TurnInput::Decided { .. }
            | TurnInput::Cancelled(_)
            | TurnInput::Compacted { .. }
            | TurnInput::Retried
            | TurnInput::Undone { .. } => {}
        }
    }
    results
}

fn call_target(asked: &TurnCall) -> Option<(&str, &str)> {
    match &asked.what {
        TurnCallKind::Call { server, target, .. } => Some((server, target)),
        TurnCallKind::Own | TurnCallKind::Mistake { .. } => None,
    }
}

/// Returns whether text of the server may have reached the conversation, even in an error message.
const fn has_answered(outcome: OutcomeKind) -> bool {
    match outcome {
        OutcomeKind::Ok
        | OutcomeKind::ToolError
        | OutcomeKind::Refused
        | OutcomeKind::Failed
        | OutcomeKind::Unknown
        | OutcomeKind::Cancelled
        | OutcomeKind::InvalidOutput => true,
        OutcomeKind::Denied | OutcomeKind::Rejected | OutcomeKind::NotSent => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::turn::{CallEnd, CallKind, TurnAnswer};

    fn call_request(server: &str) -> TurnCall {
        TurnCall {
            id: server.to_owned(),
            name: format!("{server}__read"),
            arguments: "{}".to_owned(),
            what: TurnCallKind::Call {
                server: server.to_owned(),
                wanted: CallKind::Tool,
                target: "read".to_owned(),
                arguments: "{}".to_owned(),
            },
        }
    }

    fn call_end(slot: usize, outcome: OutcomeKind) -> TurnInput {
        TurnInput::Ended { slot, end: Box::new(CallEnd::not_run(outcome, "")) }
    }

    #[test]
    fn only_what_may_have_answered_counts_each_time() {
        let answer = TurnAnswer {
            text: String::new(),
            asked: vec![call_request("web"), call_request("files"), call_request("mail")],
            native: true,
            kept: None,
            stop: switchboard_prompting::StopReason::Calls,
            usage: switchboard_prompting::TokenUsage::default(),
            prompt_tokens: 0,
            model: "fast".to_owned(),
        };
        let inputs = [
            TurnInput::Answered(Box::new(answer)),
            call_end(0, OutcomeKind::Ok),
            call_end(1, OutcomeKind::Denied),
            call_end(2, OutcomeKind::Failed),
            call_end(0, OutcomeKind::ToolError),
            TurnInput::Undone { to: 0 },
        ];
        let numbered = (1..).zip(inputs);
        let entries: Vec<TurnEntry> =
            numbered.map(|(number, input)| TurnEntry { number, input }).collect();
        assert_eq!(answer_sources(&entries), [("web", "read"), ("mail", "read"), ("web", "read")]);
    }
}
