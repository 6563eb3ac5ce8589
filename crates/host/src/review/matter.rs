//! Conversions between questions and the matters that the queue stores.

use serde_json::value::RawValue;
use switchboard_policy::Question;
use switchboard_store::{AskMatter, AskedFor, Matter, QueuedQuestion, ReviewMatter};

use crate::review::ask::{Ask, AskKind, BadAsk};
use crate::review::form::Form;
use crate::review::url_ask::UrlAsk;

/// Returns the matter of a question about a call.
pub fn review_matter(question: &Question) -> Matter {
    let call = question.call();
    Matter::Review(ReviewMatter {
        server: call.target().server.clone(),
        kind: call.target().kind.as_str().to_owned(),
        target: call.target().name.clone(),
        arguments: call.arguments().as_str().to_owned(),
        definition: call.definition_digest().to_string(),
        why: question.why().to_owned(),
        problem: question.problem().map(str::to_owned),
        risk: question.risk().clone(),
    })
}

/// Returns the matter of a server's question.
pub fn ask_matter(ask: &Ask) -> Matter {
    let wanted = match &ask.kind {
        AskKind::Form(form) => AskedFor::Form { schema: form.schema().to_owned() },
        AskKind::Url(url) => AskedFor::Url { url: url.url.clone() },
        AskKind::Sampling(sampling) => {
            AskedFor::Consent { name: "sampling".to_owned(), details: sampling.as_json() }
        }
    };
    Matter::Ask(AskMatter {
        server: ask.server.clone(),
        tool: ask.tool.clone(),
        message: ask.message.clone(),
        wanted,
    })
}

/// Restores a server's question from its stored matter; `None` for a consent, which has only yes
/// and no as answers. Fails if the stored matter was edited.
pub fn restore_ask(asked: &QueuedQuestion, matter: &AskMatter) -> Result<Option<Ask>, BadAsk> {
    let kind = match &matter.wanted {
        AskedFor::Form { schema } => {
            let schema: &RawValue = serde_json::from_str(schema)
                .map_err(|error| BadAsk::new_malformed(format!("the form is not JSON: {error}")))?;
            AskKind::Form(Form::parse(schema)?)
        }
        AskedFor::Url { url } => AskKind::Url(UrlAsk::parse(url)?),
        AskedFor::Consent { .. } => return Ok(None),
    };
    Ok(Some(Ask {
        server: matter.server.clone(),
        tool: matter.tool.clone(),
        call: asked.call.clone(),
        reference: asked.reference.clone(),
        message: matter.message.clone(),
        kind,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_asks_can_be_put_again_from_what_was_kept() {
        let schema =
            r#"{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"number"}}}"#;
        let raw: &RawValue = serde_json::from_str(schema).unwrap();
        let ask = Ask {
            server: "notes".to_owned(),
            tool: Some("save".to_owned()),
            call: Some("7".to_owned()),
            reference: Some("call_1".to_owned()),
            message: "Who?".to_owned(),
            kind: AskKind::Form(Form::parse(raw).unwrap()),
        };
        let asked = QueuedQuestion {
            matter: ask_matter(&ask),
            call: ask.call.clone(),
            reference: ask.reference.clone(),
            caller: None,
        };
        let text = serde_json::to_string(&asked).unwrap();
        let read: QueuedQuestion = serde_json::from_str(&text).unwrap();
        assert_eq!(read, asked);
        let Matter::Ask(matter) = &read.matter else { panic!("{read:?}") };
        let again = restore_ask(&read, matter).unwrap().unwrap();
        assert_eq!(format!("{again:?}"), format!("{ask:?}"));
    }
}
