//! What a kept conversation holds results of: what it read taints it, wherever it was read.

use switchboard_core::OutcomeKind;

use crate::turn::{Asked, Entry, Input, What};

/// The servers and targets that answered calls of the conversation, one for each answer. What was
/// undone counts: it was read.
pub(crate) fn results(entries: &[Entry]) -> Vec<(&str, &str)> {
    let mut results = Vec::new();
    let mut asked: &[Asked] = &[];
    for entry in entries {
        match &entry.input {
            Input::Answered(answer) => asked = &answer.asked,
            Input::Ended { slot, end } => {
                let target = asked.get(*slot).and_then(target_of);
                results.extend(target.filter(|_| has_answered(end.outcome)));
            }
            Input::Began { .. }
            | Input::Said { .. }
            | Input::NoAnswer(_)
            | Input::Decided { .. }
            | Input::Cancelled(_)
            | Input::Compacted { .. }
            | Input::Retried
            | Input::Undone { .. } => {}
        }
    }
    results
}

fn target_of(asked: &Asked) -> Option<(&str, &str)> {
    match &asked.what {
        What::Call { server, target, .. } => Some((server, target)),
        What::Own | What::Mistake { .. } => None,
    }
}

/// Whether words of the server may have reached the conversation.
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
    use crate::turn::{Answer, Ended, WantedKind};

    fn asked(server: &str) -> Asked {
        Asked {
            id: server.to_owned(),
            name: format!("{server}__read"),
            arguments: "{}".to_owned(),
            what: What::Call {
                server: server.to_owned(),
                wanted: WantedKind::Tool,
                target: "read".to_owned(),
                arguments: "{}".to_owned(),
            },
        }
    }

    fn ended(slot: usize, outcome: OutcomeKind) -> Input {
        Input::Ended { slot, end: Box::new(Ended::not_run(outcome, "")) }
    }

    #[test]
    fn only_what_may_have_answered_counts_each_time() {
        let answer = Answer {
            text: String::new(),
            asked: vec![asked("web"), asked("files"), asked("mail")],
            native: true,
            kept: None,
            stop: switchboard_prompting::Stop::Calls,
            usage: switchboard_prompting::Usage::default(),
            prompt_tokens: 0,
            model: "fast".to_owned(),
        };
        let inputs = [
            Input::Answered(Box::new(answer)),
            ended(0, OutcomeKind::Ok),
            ended(1, OutcomeKind::Denied),
            ended(2, OutcomeKind::Failed),
            ended(0, OutcomeKind::ToolError),
            Input::Undone { to: 0 },
        ];
        let numbered = (1..).zip(inputs);
        let entries: Vec<Entry> = numbered.map(|(number, input)| Entry { number, input }).collect();
        assert_eq!(results(&entries), [("web", "read"), ("mail", "read"), ("web", "read")]);
    }
}
