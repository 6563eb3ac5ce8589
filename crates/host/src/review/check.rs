//! Checks that a decision is a valid answer to its question.

use serde_json::{Map, Value};
use switchboard_store::{AskedFor, Matter, QueueError, QueuedQuestion, UserDecision};

use crate::review::ask::AskKind;
use crate::review::matter::restore_ask;

/// Rejects a decision that does not fit the question.
pub(super) fn check_decision(
    given: &UserDecision,
    asked: &QueuedQuestion,
) -> Result<(), QueueError> {
    let refused = |why: String| Err(QueueError::DoesNotFit(why));
    match (&asked.matter, given) {
        // `autoApprove`, where such answers are stored, lists only tools.
        (Matter::Review(review), UserDecision::Always) if !review.is_tool() => {
            refused("only tools can always be allowed".to_owned())
        }
        (Matter::Review(_), UserDecision::RunWith(arguments)) => {
            match serde_json::from_str::<Map<String, Value>>(arguments) {
                Ok(_) => Ok(()),
                Err(error) => refused(format!("the arguments are not a JSON object: {error}")),
            }
        }
        (
            Matter::Review(_),
            UserDecision::Run
            | UserDecision::Session
            | UserDecision::Always
            | UserDecision::Skip
            | UserDecision::Reject(_),
        ) => Ok(()),
        (
            Matter::Review(_),
            UserDecision::Accept(_) | UserDecision::Decline | UserDecision::Cancel,
        ) => refused("a call waits: answer with run, session, always, skip or reject".to_owned()),
        (Matter::Ask(_), UserDecision::Decline | UserDecision::Cancel) => Ok(()),
        (Matter::Ask(matter), UserDecision::Accept(content)) => match &matter.wanted {
            AskedFor::Form { .. } => check_form(asked, content.as_ref()),
            AskedFor::Url { .. } | AskedFor::Consent { .. } if content.is_some() => {
                refused("the question has no form".to_owned())
            }
            AskedFor::Url { .. } | AskedFor::Consent { .. } => Ok(()),
        },
        (
            Matter::Ask(_),
            UserDecision::Run
            | UserDecision::RunWith(_)
            | UserDecision::Session
            | UserDecision::Always
            | UserDecision::Skip
            | UserDecision::Reject(_),
        ) => refused("a server asks: answer with accept, decline or cancel".to_owned()),
    }
}

fn check_form(
    asked: &QueuedQuestion,
    content: Option<&Map<String, Value>>,
) -> Result<(), QueueError> {
    let Matter::Ask(matter) = &asked.matter else { return Ok(()) };
    let ask = restore_ask(asked, matter).map_err(|bad| QueueError::DoesNotFit(bad.to_string()))?;
    let Some(AskKind::Form(form)) = ask.map(|ask| ask.kind) else { return Ok(()) };
    let empty = Map::new();
    form.check(content.unwrap_or(&empty)).map_err(|problems| {
        let words = problems.iter().map(|problem| match &problem.field {
            Some(field) => format!("`{field}` {problem}"),
            None => problem.to_string(),
        });
        QueueError::DoesNotFit(words.collect::<Vec<_>>().join("; "))
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;
    use switchboard_store::{AskMatter, QueueFile, QueueStore, ReviewMatter};

    use super::*;
    use crate::review::review_queue::{DEFAULT_REVIEW_LIMIT, ReviewQueue};

    fn review() -> QueuedQuestion {
        let matter = Matter::Review(ReviewMatter {
            server: "files".to_owned(),
            kind: "tool".to_owned(),
            target: "write".to_owned(),
            arguments: "{}".to_owned(),
            definition: "d".to_owned(),
            why: "no rule allows it".to_owned(),
            problem: None,
            risk: Default::default(),
        });
        QueuedQuestion {
            matter,
            call: Some("7".to_owned()),
            reference: None,
            caller: Some("me".to_owned()),
        }
    }

    fn form() -> QueuedQuestion {
        let schema = json!({"type": "object", "properties": {"name": {"type": "string"}},
            "required": ["name"]});
        let matter = Matter::Ask(AskMatter {
            server: "notes".to_owned(),
            tool: None,
            message: "Who?".to_owned(),
            wanted: AskedFor::Form { schema: schema.to_string() },
        });
        QueuedQuestion { matter, call: None, reference: None, caller: None }
    }

    #[tokio::test]
    async fn only_what_fits_the_question_is_an_answer() {
        let store = QueueFile::in_memory();
        let waiting =
            ReviewQueue::new(Arc::clone(&store) as Arc<dyn QueueStore>, DEFAULT_REVIEW_LIMIT);
        let review = store.post(&review(), DEFAULT_REVIEW_LIMIT).unwrap();
        let form = store.post(&form(), DEFAULT_REVIEW_LIMIT).unwrap();
        let filled =
            |value: Value| UserDecision::Accept(json!({ "name": value }).as_object().cloned());
        let call = "a call waits: answer with run, session, always, skip or reject";
        let server = "a server asks: answer with accept, decline or cancel";
        for (entry, given, problem) in [
            (&review, UserDecision::Decline, Some(call)),
            (
                &review,
                UserDecision::RunWith("[]".to_owned()),
                Some("the arguments are not a JSON object"),
            ),
            (&form, UserDecision::Run, Some(server)),
            (&form, UserDecision::Accept(None), Some("`name` is required")),
            (&form, filled(json!(3)), Some("`name` must be")),
            (&form, filled(json!("Ada")), None),
            (&review, UserDecision::Always, None),
        ] {
            let got = waiting.answer(&entry.id, &entry.digest, given.clone(), "me").await;
            match (got, problem) {
                (Ok(()), None) => {}
                (Err(QueueError::DoesNotFit(why)), Some(problem)) => {
                    assert!(why.starts_with(problem), "{given:?}: {why}");
                }
                (got, _) => panic!("{given:?}: {got:?}"),
            }
        }
    }
}
