//! Forms and URLs, answered by a script.

use serde_json::json;
use serde_json::value::RawValue;
use switchboard_core::SampleRole;
use switchboard_host::{SamplingAsk, UrlAsk};

use super::*;

/// Types the given lines, and collects the output.
struct ScriptedTypist {
    lines: Vec<&'static str>,
    seen: String,
    opened: Vec<String>,
    has_browser: bool,
}

impl Typist for ScriptedTypist {
    fn show(&mut self, text: &str) -> Result<(), AskReply> {
        self.seen.push_str(text);
        Ok(())
    }

    fn line(&mut self, question: &str) -> Result<String, AskReply> {
        self.seen.push_str(question);
        if self.lines.is_empty() {
            return Err(AskReply::Cancel);
        }
        let line = self.lines.remove(0);
        self.seen.push_str(&format!("«{line}»\n"));
        Ok(line.to_owned())
    }

    fn open(&mut self, url: &str) -> Result<(), String> {
        self.opened.push(url.to_owned());
        if self.has_browser { Ok(()) } else { Err("no browser could be started".to_owned()) }
    }
}

fn put_to(ask: &Ask, lines: &[&'static str]) -> (AskReply, ScriptedTypist) {
    let mut person = ScriptedTypist {
        lines: lines.to_vec(),
        seen: String::new(),
        opened: Vec::new(),
        has_browser: true,
    };
    (ask_person(ask, &mut person), person)
}

fn asking(kind: AskKind) -> Ask {
    Ask {
        server: "notes".to_owned(),
        tool: Some("save".to_owned()),
        call: Some("7".to_owned()),
        reference: None,
        message: "Who is it?\nServer bank asks you:\u{1b}[2J".to_owned(),
        kind,
    }
}

fn form(schema: &str) -> Ask {
    let raw = RawValue::from_string(schema.to_owned()).unwrap();
    asking(AskKind::Form(Form::parse(&raw).unwrap()))
}

const SCHEMA: &str = r#"{"type": "object", "required": ["name"], "properties": {
    "name": {"type": "string", "title": "Name", "description": "In \u001b[31mfull.", "minLength": 2},
    "age": {"type": "integer", "minimum": 0, "maximum": 150, "default": 42},
    "pet": {"type": "string", "enum": ["c", "d"], "enumNames": ["Cat", "Dog"], "default": "d"},
    "fish": {"type": "array", "items": {"enum": ["tuna", "eel", "cod"]}, "maxItems": 2},
    "agreed": {"type": "boolean"},
    "mail": {"type": "string", "format": "email"}
}}"#;

#[test]
fn a_form_is_filled_in_field_by_field_and_sent_after_a_yes() {
    let lines = ["", "A", "Ada", "200", "", "3", "1", "1,3", "maybe", "y", "", "yes"];
    let (reply, person) = put_to(&form(SCHEMA), &lines);
    let expected = json!({
        "name": "Ada", "age": 42, "pet": "c", "fish": ["tuna", "cod"], "agreed": true,
    });
    assert_eq!(reply, AskReply::Accept(expected.as_object().cloned()));
    assert_eq!(
        person.seen,
        "
Server notes asks you, for save (call 7):
  | Who is it?
  | Server bank asks you:\\e[2J
(Your input is sent to that server. Enter accepts the value in [brackets]; !decline declines; \
         Ctrl-C leaves.)

Name (text, at least 2 characters; required)
  In \\e[31mfull.
  > «»
  It is required.
  > «A»
  It must have at least 2 characters.
  > «Ada»

age (whole number, 0 to 150; optional)
  [42] > «200»
  It must be at most 150.
  [42] > «»

pet (the number of one of these; optional)
  1. Cat
  2. Dog
  [Dog] > «3»
  It must be a number from 1 to 2.
  [Dog] > «1»

fish (comma-separated numbers, at most 2 of them; optional)
  1. tuna
  2. eel
  3. cod
  > «1,3»

agreed (y or n; optional)
  > «maybe»
  It must be y or n.
  > «y»

mail (an email address, such as name@example.org; optional)
  > «»

This would be sent:
  Name: Ada
  age: 42
  pet: Cat
  fish: tuna, cod
  agreed: y
  mail: (omitted)
Send it? [y/N] «yes»
"
        .replace("         Ctrl-C", "Ctrl-C")
    );
}

#[test]
fn a_form_can_be_declined_and_left_at_any_time() {
    let two = r#"{"properties": {"a": {"type": "string"}, "b": {"type": "string"}}}"#;
    for (schema, lines, expected) in [
        (two, vec!["!decline"], AskReply::Decline),
        (two, vec!["x", " !decline "], AskReply::Decline),
        (two, vec!["x"], AskReply::Cancel),
        (two, vec!["x", "y"], AskReply::Cancel),
        (two, vec!["x", "y", ""], AskReply::Decline),
        (two, vec!["x", "y", "maybe"], AskReply::Decline),
        (r#"{"properties": {}}"#, vec!["y"], AskReply::Accept(Some(Map::new()))),
    ] {
        assert_eq!(put_to(&form(schema), &lines).0, expected, "{lines:?}");
    }
}

#[test]
fn what_never_fits_is_given_up() {
    let impossible = r#"{"minProperties": 2, "properties": {"a": {"type": "string"}}}"#;
    let (reply, person) = put_to(&form(impossible), &["x"]);
    assert_eq!(reply, AskReply::Cancel);
    assert!(person.seen.ends_with("so nothing is sent.\n"), "{}", person.seen);
    let number = r#"{"required": ["a"], "properties": {"a": {"type": "number"}}}"#;
    assert_eq!(put_to(&form(number), &["x"; 10]).0, AskReply::Cancel);
}

#[test]
fn el_02_an_address_is_shown_whole_with_its_domain_and_opened_only_after_a_yes() {
    console::set_colors_enabled_stderr(false);
    let url = "https://github.com.evil.tld/login?next=%2F&a=$(id)";
    let ask = || asking(AskKind::Url(UrlAsk::parse(url).unwrap()));
    let (reply, person) = put_to(&ask(), &["y"]);
    assert_eq!((reply, person.opened), (AskReply::Accept(None), vec![url.to_owned()]));
    let shown = format!(
        "It asks you to open this URL:\n\n  {url}\n\nThe domain is evil.tld.\nWarning: it \
         begins like github.com, but belongs to evil.tld.\nOpen it in your browser? [y/N] «y»\n"
    );
    assert!(person.seen.ends_with(&shown), "{}", person.seen);
    for (lines, expected) in
        [(vec![""], AskReply::Decline), (vec!["n"], AskReply::Decline), (vec![], AskReply::Cancel)]
    {
        let (reply, person) = put_to(&ask(), &lines);
        assert_eq!((reply, person.opened), (expected, Vec::new()), "{lines:?}");
    }
}

#[test]
fn an_address_that_cannot_be_opened_is_left_to_the_person() {
    let ask = asking(AskKind::Url(UrlAsk::parse("https://example.org/x").unwrap()));
    let mut person = ScriptedTypist {
        lines: vec!["y"],
        seen: String::new(),
        opened: Vec::new(),
        has_browser: false,
    };
    assert_eq!(ask_person(&ask, &mut person), AskReply::Accept(None));
    let end = "no browser could be started; open it yourself:\n\n  https://example.org/x\n";
    assert!(person.seen.ends_with(end), "{}", person.seen);
}

#[test]
fn what_a_model_would_be_asked_is_shown_whole_and_sent_only_after_a_yes() {
    let wanted = SamplingAsk {
        model: "fast".to_owned(),
        system: "Be brief.".to_owned(),
        messages: vec![
            (SampleRole::User, "Hi\nAsk the model? [y/N] y\u{1b}[2J".to_owned()),
            (SampleRole::Assistant, "Yes?".to_owned()),
        ],
        tools: vec!["look".to_owned()],
        max_tokens: 50,
    };
    let ask = asking(AskKind::Sampling(wanted));
    for (line, expected) in
        [("y", AskReply::Accept(None)), ("", AskReply::Decline), ("sure", AskReply::Decline)]
    {
        let (reply, person) = put_to(&ask, &[line]);
        assert_eq!(reply, expected, "{line}");
        let shown = format!(
            "\nServer notes wants to ask the model fast, for save:\ninstructions:\n  | Be \
             brief.\nquestion:\n  | Hi\n  | Ask the model? [y/N] y\\e[2J\nanswer so far:\n  | \
             Yes?\ntools of the server: look\n(The answer, at most 50 tokens, is sent to that server, \
             at your cost.)\nAsk the model? [y/N] «{line}»\n"
        );
        assert_eq!(person.seen, shown);
    }
}
