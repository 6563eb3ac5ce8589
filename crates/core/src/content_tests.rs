//! Tests of results of all shapes, valid and nearly valid.

use proptest::prelude::*;

use super::*;

fn texts(json: &str) -> Vec<Item> {
    Reply::from_json(json).unwrap().items
}

fn other(kind: &str, raw: &str) -> Item {
    Item::Other { kind: kind.to_owned(), raw: raw.to_owned() }
}

#[test]
fn every_kind_of_content_is_recognised() {
    let json = r#"{"content":[
        {"type":"text","text":"hé"},
        {"type":"image","data":"AAAA","mimeType":"image/x"},
        {"type":"audio","data":"AAAA","mimeType":"audio/x"},
        {"type":"resource","resource":{"uri":"a:b","mimeType":"text/x","text":"t","blob":"QQ=="}},
        {"type":"resource_link","uri":"a:c","name":"n","title":"T","description":"d","mimeType":"m"},
        {"type":"hologram","beam":[1,2]}
      ],"isError":true,"structuredContent":{"n":1.50}}"#;
    let expected = Reply {
        items: vec![
            Item::Text("hé".to_owned()),
            Item::Image { mime: "image/x".to_owned(), data: "AAAA".to_owned() },
            Item::Audio { mime: "audio/x".to_owned(), data: "AAAA".to_owned() },
            Item::Resource {
                uri: "a:b".to_owned(),
                mime: Some("text/x".to_owned()),
                text: Some("t".to_owned()),
                blob: Some("QQ==".to_owned()),
                pretty: "{\n  \"uri\": \"a:b\",\n  \"mimeType\": \"text/x\",\n  \"text\": \"t\"\n}"
                    .to_owned(),
            },
            Item::ResourceLink {
                uri: "a:c".to_owned(),
                name: Some("T".to_owned()),
                description: Some("d".to_owned()),
                mime: Some("m".to_owned()),
            },
            other("hologram", r#"{"type":"hologram","beam":[1,2]}"#),
        ],
        structured: Some(r#"{"n":1.50}"#.to_owned()),
        is_error: true,
    };
    assert_eq!(Reply::from_json(json), Ok(expected));
}

#[test]
fn content_that_lacks_something_stays_as_it_is() {
    for (json, kind) in [
        (r#"{"type":"text"}"#, "text"),
        (r#"{"type":"text","text":5}"#, "text"),
        (r#"{"type":"image","mimeType":"image/png"}"#, "image"),
        (r#"{"type":"resource"}"#, "resource"),
        (r#"{"type":"resource","resource":{"text":"t"}}"#, "resource"),
        (r#"{"type":"resource_link","name":"n"}"#, "resource_link"),
        (r#"{"text":"no type"}"#, ""),
        ("17", ""),
        ("[1]", ""),
    ] {
        assert_eq!(texts(&format!(r#"{{"content":[{json}]}}"#)), [other(kind, json)], "{json}");
    }
}

#[test]
fn a_picture_without_a_type_gets_the_one_its_bytes_show() {
    let image =
        |mime: &str, data: &str| Item::Image { mime: mime.to_owned(), data: data.to_owned() };
    let png = "iVBORw0KGgoAAAANSUhEUg==";
    for (fields, expected) in [
        (format!(r#""data":"{png}""#), image("image/png", png)),
        (format!(r#""data":"{png}","mimeType":null"#), image("image/png", png)),
        (format!(r#""data":"{png}","mimeType":"""#), image("image/png", png)),
        (r#""data":"AAAA""#.to_owned(), image("application/octet-stream", "AAAA")),
    ] {
        assert_eq!(
            texts(&format!(r#"{{"content":[{{"type":"image",{fields}}}]}}"#)),
            [expected],
            "{fields}"
        );
    }
}

#[test]
fn answers_that_are_nearly_results_are_read_as_what_they_mean() {
    let text = |text: &str| vec![Item::Text(text.to_owned())];
    for (json, items, is_error) in [
        (r#"{"content":"bare"}"#, text("bare"), false),
        (r#"{"content":{"type":"text","text":"alone"}}"#, text("alone"), false),
        (r#"{"content":["in a list"],"isError":null}"#, text("in a list"), false),
        (r#"{"content":[],"isError":"true"}"#, vec![], true),
        (r#"{"structuredContent":[1]}"#, vec![], false),
        (r#"{"content":null,"structuredContent":{}}"#, vec![], false),
    ] {
        let reply = Reply::from_json(json).unwrap();
        assert_eq!((reply.items, reply.is_error), (items, is_error), "{json}");
    }
}

#[test]
fn an_answer_that_is_no_result_is_invalid() {
    for json in ["", "null", "[]", "\"text\"", "{}", r#"{"isError":true}"#, r#"{"content":"#] {
        assert!(Reply::from_json(json).is_err(), "{json}");
    }
    let error = Reply::from_json("{}").unwrap_err();
    assert_eq!(error.to_string(), "the answer is not a result: it has no `content`");
    assert!(Reply::from_resource_json(r#"{"content":[]}"#).is_err());
    assert!(Reply::from_prompt_json(r#"{"content":[]}"#).is_err());
}

#[test]
fn resources_and_prompts_become_items_too() {
    let read = Reply::from_resource_json(r#"{"contents":[{"uri":"a:b","text":"t"},{"no":"uri"}]}"#);
    assert_eq!(
        read.unwrap().items,
        [
            Item::Resource {
                uri: "a:b".to_owned(),
                mime: None,
                text: Some("t".to_owned()),
                blob: None,
                pretty: "{\n  \"uri\": \"a:b\",\n  \"text\": \"t\"\n}".to_owned()
            },
            other("resource", r#"{"no":"uri"}"#)
        ]
    );
    let prompt = Reply::from_prompt_json(
        r#"{"messages":[{"role":"user","content":{"type":"text","text":"hi"}},{"role":"user"}]}"#,
    );
    assert_eq!(
        prompt.unwrap().items,
        [
            Item::Message {
                role: "user".to_owned(),
                content: Box::new(Item::Text("hi".to_owned()))
            },
            other("message", r#"{"role":"user"}"#)
        ]
    );
}

proptest! {
    #[test]
    fn no_content_makes_a_result_invalid(kind in "[a-z_]{0,12}", text in ".{0,40}", number in any::<i64>()) {
        let json = serde_json::json!({"content": [
            {"type": kind, "text": text, "data": text, "resource": number, "uri": text},
            {"type": number}, number, text, null,
        ]});
        let reply = Reply::from_json(&json.to_string()).unwrap();
        prop_assert_eq!(reply.items.len(), 5);
    }
}
