//! Normalization of conversations before they are sent to a vendor.

use serde_json::json;
use switchboard_config::{ModelProfile, Provider};
use switchboard_prompting::VendorMessage;

use super::*;

pub(crate) fn about(provider: Provider) -> ModelInfo {
    let profile = ModelProfile { images: Some(true), ..ModelProfile::new("fast", provider, "m-1") };
    crate::providers::model_info(&profile)
}

pub(crate) fn user(text: &str) -> ChatMessage {
    ChatMessage::User { text: text.to_owned(), images: Vec::new() }
}

pub(crate) fn picture() -> Image {
    Image { mime: "image/png".to_owned(), data: "iVBO".to_owned() }
}

pub(crate) fn asked_call(id: &str, name: &str, arguments: &str) -> RequestedCall {
    RequestedCall { id: id.to_owned(), name: name.to_owned(), arguments: arguments.to_owned() }
}

pub(crate) fn assistant(text: &str, calls: &[RequestedCall]) -> ChatMessage {
    ChatMessage::Assistant { text: text.to_owned(), calls: calls.to_vec(), kept: None }
}

pub(crate) fn kept_message(
    text: &str,
    calls: &[RequestedCall],
    provider: &str,
    content: Value,
) -> ChatMessage {
    let kept = Some(VendorMessage { provider: provider.to_owned(), content });
    ChatMessage::Assistant { text: text.to_owned(), calls: calls.to_vec(), kept }
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

fn user_turn(text: &str) -> VendorTurn<'_> {
    VendorTurn::User { text: text.into(), images: Vec::new() }
}

#[test]
fn every_call_gets_its_result_and_every_result_its_call() {
    let calls = [asked_call("a", "one", "{}"), asked_call("b", "two", "{}")];
    let messages = [
        user("go"),
        assistant("", &calls),
        ChatMessage::Results { results: vec![result("b", "two", "B"), result("z", "old", "Z")] },
        assistant("", &calls[..1]),
        user("never mind"),
    ];
    let answered = |id, name, text: &'static str, failed| AnsweredCall {
        id,
        name,
        text: text.into(),
        images: Vec::new(),
        failed,
    };
    assert_eq!(
        turns(&messages, &about(Provider::OpenAi)),
        [
            user_turn("go"),
            VendorTurn::Assistant { text: "", calls: &calls, kept: None },
            VendorTurn::Results(vec![
                answered("a", "one", NO_RESULT, true),
                answered("b", "two", "B", false)
            ]),
            user_turn("Result of an earlier call of `old`:\nZ"),
            VendorTurn::Assistant { text: "", calls: &calls[..1], kept: None },
            VendorTurn::Results(vec![answered("a", "one", NO_RESULT, true)]),
            user_turn("never mind"),
        ]
    );
}

#[test]
fn a_conversation_begins_with_a_person_and_holds_nothing_empty() {
    let cases = [
        (vec![], vec![user_turn(CUT_BEGINNING)]),
        (
            vec![assistant("hi", &[]), user(" "), assistant("\n", &[])],
            vec![
                user_turn(CUT_BEGINNING),
                VendorTurn::Assistant { text: "hi", calls: &[], kept: None },
            ],
        ),
    ];
    for (messages, expected) in &cases {
        assert_eq!(&turns(messages, &about(Provider::OpenAi)), expected);
    }
}

#[test]
fn a_model_that_cannot_look_is_told_what_was_left_out() {
    let blind = ModelInfo { images: false, ..about(Provider::OpenAi) };
    let messages = [
        ChatMessage::User { text: "see".to_owned(), images: vec![picture()] },
        ChatMessage::User { text: String::new(), images: vec![picture(), picture()] },
    ];
    assert_eq!(
        turns(&messages, &blind),
        [
            user_turn("see\n(A picture was left out: this model does not accept images.)"),
            user_turn("(2 pictures were left out: this model does not accept images.)"),
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
    let messages = [ChatMessage::User { text: "see".to_owned(), images }];
    let text = "see\n(2 pictures were left out: no vendor accepts this format.)";
    let images = vec![Picture { mime: "image/jpeg", data: "/9j/" }];
    assert_eq!(
        turns(&messages, &about(Provider::OpenAi)),
        [VendorTurn::User { text: text.into(), images }]
    );
}

#[test]
fn only_the_vendor_that_said_it_gets_its_own_form_back() {
    let messages = [user("hi"), kept_message("yes", &[], "anthropic", json!([1]))];
    for (provider, expected) in [(Provider::Anthropic, Some(json!([1]))), (Provider::OpenAi, None)]
    {
        let about = about(provider);
        let turns = turns(&messages, &about);
        let Some(VendorTurn::Assistant { kept, .. }) = turns.last() else { panic!("{turns:?}") };
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
