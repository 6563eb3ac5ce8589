//! Tests of requests of servers and their answers.

use std::sync::atomic::AtomicUsize;

use super::*;
use crate::review::ask::ReplyFuture;

/// Gives a scripted reply, and records the questions.
#[derive(Default)]
struct Scripted {
    reply: Mutex<Option<AskReply>>,
    asked: Mutex<Vec<String>>,
    turned_down: Mutex<Vec<String>>,
    at_once: AtomicUsize,
    most_at_once: AtomicUsize,
}

impl Scripted {
    fn replying(reply: AskReply) -> Arc<Self> {
        Arc::new(Self { reply: Mutex::new(Some(reply)), ..Self::default() })
    }
}

impl Asker for Scripted {
    fn ask<'a>(&'a self, ask: &'a Ask) -> ReplyFuture<'a> {
        let about = format!("{} {:?} {:?}: {}", ask.server, ask.tool, ask.call, ask.message);
        self.asked.lock().push(about);
        let reply = self.reply.lock().clone();
        Box::pin(async move {
            let at_once = self.at_once.fetch_add(1, Ordering::SeqCst) + 1;
            self.most_at_once.fetch_max(at_once, Ordering::SeqCst);
            tokio::task::yield_now().await;
            self.at_once.fetch_sub(1, Ordering::SeqCst);
            match reply {
                Some(reply) => reply,
                None => std::future::pending().await,
            }
        })
    }

    fn notify_refused(&self, server: &str, why: &str) {
        self.turned_down.lock().push(format!("{server}: {why}"));
    }
}

async fn answer(answers: &FaceAnswers, method: &str, params: &Value) -> Result<Value, i64> {
    let params = Json::from(params);
    let asking = ServerRequest {
        key: None,
        server: "notes",
        target: Some("save"),
        call: Some(7),
        method,
        params: Some(&params),
    };
    match answers.answer(asking).await {
        Ok(text) => Ok(serde_json::from_str(&text).unwrap()),
        Err(error) => Err(error.code),
    }
}

fn elicitation(field: &str) -> Value {
    let properties = json!({field: {"type": "string"}});
    json!({"message": "Who?", "requestedSchema": {"type": "object", "properties": properties,
        "required": [field]}})
}

fn content(value: &Value) -> Option<Map<String, Value>> {
    value.as_object().cloned()
}

#[tokio::test]
async fn what_the_person_says_is_told_as_the_protocol_spells_it() {
    for (reply, expected) in [
        (
            AskReply::Accept(content(&json!({"name": "Ada"}))),
            json!({"action": "accept", "content": {"name": "Ada"}}),
        ),
        (AskReply::Decline, json!({"action": "decline"})),
        (AskReply::Cancel, json!({"action": "cancel"})),
        // Content that does not fit the form is never sent.
        (AskReply::Accept(None), json!({"action": "cancel"})),
        (AskReply::Accept(content(&json!({"name": 3}))), json!({"action": "cancel"})),
    ] {
        let asker = Scripted::replying(reply);
        let answers = FaceAnswers::new(Arc::clone(&asker) as Arc<dyn Asker>, Vec::new());
        let got = answer(&answers, "elicitation/create", &elicitation("name")).await;
        assert_eq!(got, Ok(expected));
        let asked = [r#"notes Some("save") Some("7"): Who?"#];
        assert_eq!(*asker.asked.lock(), asked);
    }
}

#[tokio::test]
async fn el_01_a_form_that_asks_for_a_secret_is_declined_and_the_person_is_told_why() {
    for field in ["password", "api_key", "otp", "seed phrase"] {
        let asker = Scripted::replying(AskReply::Accept(None));
        let answers = FaceAnswers::new(Arc::clone(&asker) as Arc<dyn Asker>, Vec::new());
        let got = answer(&answers, "elicitation/create", &elicitation(field)).await;
        assert_eq!(got, Ok(json!({"action": "decline"})), "{field}");
        assert_eq!(asker.asked.lock().len(), 0, "{field}");
        let told = asker.turned_down.lock().join("\n");
        assert!(told.starts_with("notes: it asks for a secret (`"), "{told}");
    }
}

#[tokio::test]
async fn el_06_what_was_not_declared_or_is_not_known_is_refused_unasked() {
    let asker = Scripted::replying(AskReply::Accept(None));
    let answers = FaceAnswers::new(Arc::clone(&asker) as Arc<dyn Asker>, Vec::new());
    for (method, params, code) in [
        ("sampling/createMessage", json!({}), RpcError::METHOD_NOT_FOUND),
        ("roots/list", json!({}), RpcError::METHOD_NOT_FOUND),
        ("elicitation/create", json!({"mode": "voice"}), RpcError::INVALID_PARAMS),
        ("elicitation/create", json!({"message": "Who?"}), RpcError::INVALID_PARAMS),
        ("elicitation/create", json!({"mode": "url"}), RpcError::INVALID_PARAMS),
        ("elicitation/create", json!({"requestedSchema": []}), RpcError::INVALID_PARAMS),
        ("elicitation/create", json!({"message": 3}), RpcError::INVALID_PARAMS),
    ] {
        assert_eq!(answer(&answers, method, &params).await, Err(code), "{method} {params}");
    }
    assert_eq!(asker.asked.lock().len(), 0);
    assert_eq!(answer(&answers, "ping", &json!({})).await, Ok(json!({})));
}

#[tokio::test]
async fn an_address_is_asked_about_or_declined() {
    for (url, asked, expected) in [
        ("https://example.org/", 1, "accept"),
        ("http://example.org/", 0, "decline"),
        ("https://me@example.org/", 0, "decline"),
    ] {
        let asker = Scripted::replying(AskReply::Accept(content(&json!({"left": "out"}))));
        let answers = FaceAnswers::new(Arc::clone(&asker) as Arc<dyn Asker>, Vec::new());
        let params = json!({"mode": "url", "message": "Go.", "url": url, "elicitationId": "1"});
        let got = answer(&answers, "elicitation/create", &params).await;
        assert_eq!(got, Ok(json!({"action": expected})), "{url}");
        assert_eq!(asker.asked.lock().len(), asked, "{url}");
    }
}

#[tokio::test]
async fn folders_are_told_only_if_there_are_any() {
    let elicitation = r#""elicitation":{"form":{},"url":{}}"#;
    let nobody = || Arc::new(crate::review::ask::NobodyToAsk);
    let none = FaceAnswers::new(nobody(), Vec::new());
    assert_eq!(none.capabilities("notes"), format!("{{{elicitation}}}"));
    let some = FaceAnswers::new(nobody(), vec![PathBuf::from("/tmp/my notes")]);
    assert_eq!(
        some.capabilities("notes"),
        format!(r#"{{{elicitation},"roots":{{"listChanged":true}}}}"#)
    );
    let expected = json!({"roots": [{"uri": "file:///tmp/my%20notes", "name": "my notes"}]});
    assert_eq!(answer(&some, "roots/list", &json!({})).await, Ok(expected));
}

#[tokio::test]
async fn several_questions_wait_for_one_another() {
    let asker = Scripted::replying(AskReply::Decline);
    let answers = FaceAnswers::new(Arc::clone(&asker) as Arc<dyn Asker>, Vec::new());
    let params = elicitation("name");
    let ask = || answer(&answers, "elicitation/create", &params);
    let got = tokio::join!(ask(), ask(), ask());
    let declined = || Ok(json!({"action": "decline"}));
    assert_eq!(got, (declined(), declined(), declined()));
    assert_eq!(asker.most_at_once.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_person_who_says_nothing_has_cancelled_after_a_while() {
    let asker: Arc<Scripted> = Arc::default();
    let answers = FaceAnswers::new(Arc::clone(&asker) as Arc<dyn Asker>, Vec::new())
        .with_limit(Duration::from_millis(20));
    let got = answer(&answers, "elicitation/create", &elicitation("name")).await;
    assert_eq!(got, Ok(json!({"action": "cancel"})));
}

#[tokio::test]
async fn a_person_is_told_once_that_an_address_they_visited_has_done_its_work() {
    #[derive(Default)]
    struct Visitor(Mutex<Vec<String>>);
    impl Asker for Visitor {
        fn ask<'a>(&'a self, _ask: &'a Ask) -> ReplyFuture<'a> {
            Box::pin(async { AskReply::Accept(None) })
        }

        fn notify_completed(&self, server: &str) {
            self.0.lock().push(server.to_owned());
        }
    }
    let visitor: Arc<Visitor> = Arc::default();
    let answers = FaceAnswers::new(Arc::clone(&visitor) as Arc<dyn Asker>, Vec::new());
    let url = "https://example.org/";
    let params = json!({"mode": "url", "message": "Go.", "url": url, "elicitationId": "one"});
    answer(&answers, "elicitation/create", &params).await.unwrap();
    for (server, id) in [("notes", "two"), ("others", "one"), ("notes", "one"), ("notes", "one")] {
        answers.on_elicitation_complete(server, id);
    }
    assert_eq!(*visitor.0.lock(), ["notes"]);
}
