//! Sampling requests of servers: converted to every vendor's form, and back to the protocol's.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use switchboard_config::{CallStyle, ModelProfile, Provider};
use switchboard_core::{
    ChosenModel, ModelPreferences, SampleMessage, SamplePart, SampleRequest, SampleResult,
    SampleRole, SampleStop, SampleTool, SampleToolChoice, Sampler, ToolUse,
};
use switchboard_models::ModelSampler;

use crate::server::environment;

fn sampler(turns: &Value, calls: Option<CallStyle>) -> (ModelSampler, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let script = json!({ "turns": turns }).to_string();
    std::fs::write(folder.path().join("script.json"), script).unwrap();
    let profile = ModelProfile {
        file: Some(folder.path().join("script.json")),
        calls,
        ..ModelProfile::new("fake", Provider::Scripted, "")
    };
    let profiles = BTreeMap::from([("fake".to_owned(), profile)]);
    (ModelSampler::new(profiles, None, environment()), folder)
}

fn request(parts: Vec<SamplePart>) -> SampleRequest {
    SampleRequest {
        server: "notes".to_owned(),
        profile: "fake".to_owned(),
        system: String::new(),
        messages: vec![SampleMessage { role: SampleRole::User, parts }],
        tools: Vec::new(),
        tool_choice: SampleToolChoice::Auto,
        max_tokens: 100,
        temperature: None,
        stop_sequences: Vec::new(),
    }
}

fn text(text: &str) -> SamplePart {
    SamplePart::Text(text.to_owned())
}

fn said(text: &str, tokens: usize) -> SampleResult {
    SampleResult {
        model: "fake".to_owned(),
        text: text.to_owned(),
        calls: Vec::new(),
        stop: SampleStop::End,
        tokens,
    }
}

#[tokio::test]
async fn the_only_model_there_is_answers_and_its_cost_is_told() {
    let turns = json!([{"expect": ["Hi"], "text": "Hello.", "usage": {"input": 7, "output": 2}}]);
    let (sampler, _folder) = sampler(&turns, None);
    let chosen = sampler.choose(&ModelPreferences::default());
    let expected =
        ChosenModel { profile: "fake".to_owned(), model: String::new(), tools: ToolUse::Native };
    assert_eq!(chosen, Some(expected));
    assert_eq!(sampler.sample(&request(vec![text("Hi")])).await, Ok(said("Hello.", 9)));
}

#[tokio::test]
async fn a_text_that_ends_the_answer_ends_it_whoever_notices() {
    let turns = json!([{"text": "one\ntwo", "usage": {"input": 1}}]);
    let (sampler, _folder) = sampler(&turns, None);
    let request =
        SampleRequest { stop_sequences: vec!["\n".to_owned()], ..request(vec![text("Hi")]) };
    let expected = SampleResult { stop: SampleStop::Sequence, ..said("one", 1) };
    assert_eq!(sampler.sample(&request).await, Ok(expected));
}

#[tokio::test]
async fn calls_and_their_results_go_both_ways() {
    let turns = json!([
        {"calls": [{"name": "see", "arguments": {"at": 1}}], "usage": {"output": 1}},
        {"expect": ["a cat"], "text": "It is a cat.", "usage": {"output": 1}},
    ]);
    let (sampler, _folder) = sampler(&turns, None);
    let tool = SampleTool {
        name: "see".to_owned(),
        description: None,
        input_schema: Some(r#"{"type":"object"}"#.to_owned()),
    };
    let first = SampleRequest { tools: vec![tool], ..request(vec![text("What is it?")]) };
    let call = ("call_1_1".to_owned(), "see".to_owned(), json!({"at": 1}));
    let expected = SampleResult { calls: vec![call], stop: SampleStop::Calls, ..said("", 1) };
    assert_eq!(sampler.sample(&first).await, Ok(expected));
    let mut second = first;
    let id = "call_1_1".to_owned();
    let call = SamplePart::Call { id: id.clone(), name: "see".to_owned(), input: json!({}) };
    let text = "a cat".to_owned();
    let result = SamplePart::Result { id, text, images: Vec::new(), failed: false };
    second.messages.push(SampleMessage { role: SampleRole::Assistant, parts: vec![call] });
    second.messages.push(SampleMessage { role: SampleRole::User, parts: vec![result] });
    assert_eq!(sampler.sample(&second).await, Ok(said("It is a cat.", 1)));
}

#[tokio::test]
async fn a_model_that_calls_in_text_takes_no_tools_and_a_refusal_is_an_error() {
    let turns = json!([{"text": "no", "stop": "refused"}]);
    let (sampler, _folder) = sampler(&turns, Some(CallStyle::Text));
    let chosen = sampler.choose(&ModelPreferences::default()).unwrap();
    assert_eq!(chosen.tools, ToolUse::None);
    let refused = sampler.sample(&request(vec![text("Hi")])).await;
    assert_eq!(refused, Err("the vendor refused to answer".to_owned()));
    let tool = SampleTool { name: "see".to_owned(), description: None, input_schema: None };
    let with_tool = SampleRequest { tools: vec![tool], ..request(vec![text("Hi")]) };
    let expected = "the model `fake` cannot be given tools".to_owned();
    assert_eq!(sampler.sample(&with_tool).await, Err(expected));
}

#[tokio::test]
async fn what_a_vendor_does_not_count_is_estimated() {
    let (sampler, _folder) = sampler(&json!([{"text": "Hello there."}]), None);
    let sampled = sampler.sample(&request(vec![text("Hi, how are you?")])).await.unwrap();
    assert!((4..=20).contains(&sampled.tokens), "{sampled:?}");
}
