//! What a conversation looks like before a vendor gets it.

use serde_json::json;
use switchboard_config::{ModelProfile, Provider};
use switchboard_prompting::Kept;

use super::*;

pub(crate) fn about(provider: Provider) -> About {
    let profile = ModelProfile { images: Some(true), ..ModelProfile::new("fast", provider, "m-1") };
    crate::defaults::about(&profile)
}

pub(crate) fn user(text: &str) -> Message {
    Message::User { text: text.to_owned(), images: Vec::new() }
}

pub(crate) fn picture() -> Image {
    Image { mime: "image/png".to_owned(), data: "iVBO".to_owned() }
}

pub(crate) fn asked(id: &str, name: &str, arguments: &str) -> AskedCall {
    AskedCall { id: id.to_owned(), name: name.to_owned(), arguments: arguments.to_owned() }
}

pub(crate) fn assistant(text: &str, calls: &[AskedCall]) -> Message {
    Message::Assistant { text: text.to_owned(), calls: calls.to_vec(), kept: None }
}

pub(crate) fn kept(text: &str, calls: &[AskedCall], provider: &str, content: Value) -> Message {
    let kept = Some(Kept { provider: provider.to_owned(), content });
    Message::Assistant { text: text.to_owned(), calls: calls.to_vec(), kept }
}

pub(crate) fn result(id: &str, name: &str, text: &str) -> CallResult {
    CallResult {
        id: id.to_owned(),
        name: name.to_owned(),
        text: text.to_owned(),
        images: Vec::new(),
        failed: false,
    }
}

fn said(text: &str) -> Turn<'_> {
    Turn::User { text: text.into(), images: Vec::new() }
}

#[test]
fn every_call_gets_its_result_and_every_result_its_call() {
    let calls = [asked("a", "one", "{}"), asked("b", "two", "{}")];
    let messages = [
        user("go"),
        assistant("", &calls),
        Message::Results { results: vec![result("b", "two", "B"), result("z", "old", "Z")] },
        assistant("", &calls[..1]),
        user("never mind"),
    ];
    let answered = |id, name, text: &'static str, failed| Answered {
        id,
        name,
        text: text.into(),
        images: Vec::new(),
        failed,
    };
    assert_eq!(
        turns(&messages, &about(Provider::OpenAi)),
        [
            said("go"),
            Turn::Assistant { text: "", calls: &calls, kept: None },
            Turn::Results(vec![
                answered("a", "one", NO_RESULT, true),
                answered("b", "two", "B", false)
            ]),
            said("Result of an earlier call of `old`:\nZ"),
            Turn::Assistant { text: "", calls: &calls[..1], kept: None },
            Turn::Results(vec![answered("a", "one", NO_RESULT, true)]),
            said("never mind"),
        ]
    );
}

#[test]
fn a_conversation_begins_with_a_person_and_holds_nothing_empty() {
    let cases = [
        (vec![], vec![said(BEGINNING)]),
        (
            vec![assistant("hi", &[]), user(" "), assistant("\n", &[])],
            vec![said(BEGINNING), Turn::Assistant { text: "hi", calls: &[], kept: None }],
        ),
    ];
    for (messages, expected) in &cases {
        assert_eq!(&turns(messages, &about(Provider::OpenAi)), expected);
    }
}

#[test]
fn a_model_that_cannot_look_is_told_what_was_left_out() {
    let blind = About { images: false, ..about(Provider::OpenAi) };
    let messages = [
        Message::User { text: "see".to_owned(), images: vec![picture()] },
        Message::User { text: String::new(), images: vec![picture(), picture()] },
    ];
    assert_eq!(
        turns(&messages, &blind),
        [
            said("see\n(A picture was left out: this model cannot look at pictures.)"),
            said("(2 pictures were left out: this model cannot look at pictures.)"),
        ]
    );
}

#[test]
fn pictures_that_no_vendor_takes_are_left_out() {
    let kind = |mime: &str, data: &str| Image { mime: mime.to_owned(), data: data.to_owned() };
    let images = vec![
        kind("image/svg+xml", "PHN2"),
        kind("image/JPG", "/9j/"),
        kind("image/png", "not base64"),
    ];
    let messages = [Message::User { text: "see".to_owned(), images }];
    let text = "see\n(2 pictures were left out: no model can look at this kind.)";
    let images = vec![Picture { mime: "image/jpeg", data: "/9j/" }];
    assert_eq!(
        turns(&messages, &about(Provider::OpenAi)),
        [Turn::User { text: text.into(), images }]
    );
}

#[test]
fn only_the_vendor_that_said_it_gets_its_own_form_back() {
    let messages = [user("hi"), kept("yes", &[], "anthropic", json!([1]))];
    for (provider, expected) in [(Provider::Anthropic, Some(json!([1]))), (Provider::OpenAi, None)]
    {
        let about = about(provider);
        let turns = turns(&messages, &about);
        let Some(Turn::Assistant { kept, .. }) = turns.last() else { panic!("{turns:?}") };
        assert_eq!(kept.cloned(), expected);
    }
}

#[test]
fn extra_members_replace_and_remove() {
    let mut body = json!({"a": 1, "b": 2, "c": 3});
    let extra = json!({"a": null, "b": {"x": 1}, "d": 4});
    merge(&mut body, extra.as_object().unwrap());
    assert_eq!(body, json!({"b": {"x": 1}, "c": 3, "d": 4}));
}
