//! Tests of results as the model receives them: pictures, long texts in parts, resources, and tools
//! that it has to search for.

use serde_json::{Value, json};
use switchboard_testkit::ModelVendor;

use crate::switchboard::{Switchboard, fixture};
use crate::talking::{FORMS, Form, Setup, VendorCall, WAYS, last_words};
use crate::testenv;

/// Returns the pictures of the newest request, as base64.
fn pictures(vendor: ModelVendor, body: &Value) -> Vec<String> {
    let found = |value: &Value| match vendor {
        ModelVendor::OpenAi => {
            let url = value["image_url"]["url"].as_str()?;
            url.strip_prefix("data:image/png;base64,").map(str::to_owned)
        }
        ModelVendor::Anthropic => value["source"]["data"].as_str().map(str::to_owned),
        ModelVendor::Gemini => value["inlineData"]["data"].as_str().map(str::to_owned),
    };
    let mut all = Vec::new();
    let mut open = vec![body];
    while let Some(value) = open.pop() {
        all.extend(found(value));
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(members) => open.extend(members.values()),
            _ => {}
        }
    }
    all
}

#[test]
fn pictures_reach_a_model_that_can_look_and_are_told_to_one_that_cannot() {
    // The form of a picture differs by vendor; its replacement text is the same everywhere.
    let blind = [(WAYS[0], false), (WAYS[3], false)];
    for ((vendor, form), images) in WAYS.map(|way| (way, true)).into_iter().chain(blind) {
        let setup = Setup::new((vendor, form))
            .servers(json!({"everything": testenv::everything()}))
            .profile(json!({ "images": images }));
        let turn =
            form.turn("Look.", &[VendorCall::Tool("everything", "get-tiny-image", json!({}))]);
        let talk = setup.start(&[turn, json!({"text": "A picture."})]);
        let events = talk.task(&["--server", "everything"], 0);
        let body = talk.bodies().pop().unwrap();
        let case = format!("{vendor:?} {form:?} {images}");
        let sent = pictures(vendor, &body);
        let told = talk.told_last();
        let notices = ["this model does not take images", "this model does not accept images"];
        let is_told = notices.iter().any(|notice| told.contains(notice));
        assert_eq!(is_told, !images, "{case}: {told}");
        assert_eq!(sent.len(), usize::from(images), "{case}: {told}");
        assert!(sent.iter().all(|data| data.starts_with("iVBORw0KGgo")), "{case}: no PNG");
        assert_eq!(last_words(&events), "A picture.", "{case}");
    }
}

#[test]
fn a_long_result_is_cut_and_the_model_reads_the_part_it_wants() {
    for (vendor, form) in WAYS {
        let switchboard = Switchboard::new();
        let lines: Vec<String> = (1..=400).map(|number| format!("line number {number}")).collect();
        let file = switchboard.write("files/long.txt", &lines.join("\n"));
        let servers = json!({"files": testenv::filesystem(file.parent().unwrap())});
        let mut part = form.turn(
            "I look inside.",
            &[
                VendorCall::Own(
                    "read_result",
                    json!({"result": "${name}", "from_line": 200, "lines": 2}),
                ),
                VendorCall::Own(
                    "read_result",
                    json!({"result": "${name}", "containing": "NUMBER 255"}),
                ),
            ],
        );
        part["capture"] = json!({"name": {"after": "result `", "before": "`"}});
        let turns = [
            form.turn(
                "I read.",
                &[VendorCall::Tool("files", "read_text_file", json!({"path": file}))],
            ),
            part,
            json!({"text": "Line 200 is there."}),
        ];
        let setup = Setup::new((vendor, form)).servers(servers).chat(&json!({"resultChars": 600}));
        let talk = setup.start_in(switchboard, &json!({ "turns": turns }));
        let events = talk.task(&["--server", "files"], 0);
        assert_eq!(last_words(&events), "Line 200 is there.", "{vendor:?} {form:?}");
        let told = talk.newest_messages();
        let cut = told[1].join("\n");
        assert!(cut.len() < 1_000, "{vendor:?} {form:?}: {cut}");
        assert!(cut.contains("line number 1\n") && cut.contains("line number 400"), "{cut}");
        assert!(cut.contains(" bytes omitted here"), "{cut}");
        let read = told[2].join("\n");
        let part = "line number 200\nline number 201\n[";
        assert!(read.contains(part), "{vendor:?} {form:?}: {read}");
        assert!(!read.contains("line number 202"), "{vendor:?} {form:?}: {read}");
        assert!(read.contains("255: line number 255\n"), "{vendor:?} {form:?}: {read}");
        // The record contains only calls to servers.
        assert_eq!(talk.switchboard.recorded_calls(), ["tool files/read_text_file: ok"]);
    }
}

#[test]
fn a_part_of_a_result_that_is_not_there_is_a_mistake() {
    let form = Form::Native;
    let turn = form.turn("?", &[VendorCall::Own("read_result", json!({"result": "r77"}))]);
    let talk = Setup::new(WAYS[1]).start(&[turn, json!({"text": "I see."})]);
    talk.task(&[], 0);
    let expected = "Nothing was done: no stored result named `r77`; the note in a truncated \
                    result has its name.";
    assert_eq!(talk.told_last(), expected);
}

#[test]
fn resources_are_read_in_every_form() {
    for vendor in ModelVendor::ALL {
        for form in FORMS {
            let talk = Setup::new((vendor, form)).servers(json!({"echo": fixture(&["echo"])})).start(&[
                form.turn(
                    "I read.",
                    &[
                        VendorCall::Resource("echo", "test://static-text"),
                        VendorCall::Resource("echo", "test://template/7"),
                    ],
                ),
                json!({"expect": ["The text of a resource.", "test://template/7"], "text": "Both read."}),
            ]);
            let events = talk.task(&[], 0);
            assert_eq!(last_words(&events), "Both read.", "{vendor:?} {form:?}");
            assert_eq!(
                talk.switchboard.recorded_calls(),
                ["resource echo/test://static-text: ok", "resource echo/test://template/7: ok"],
                "{vendor:?} {form:?}"
            );
            // The resources are in the model's first request.
            let system = talk.system(&talk.bodies()[0]);
            for address in ["test://static-text", "test://template/{id}"] {
                assert!(system.contains(address), "{vendor:?} {form:?}: no {address} in {system}");
            }
        }
    }
}

#[test]
fn a_model_finds_its_tool_among_too_many() {
    for (vendor, form) in WAYS {
        let servers = json!({"many": fixture(&["echo", "--tools", "300"])});
        let setup = Setup::new((vendor, form)).servers(servers).chat(&json!({"promptTokens": 800}));
        let inner = json!({"query": "fish", "limit": 2});
        let mut call = form.turn(
            "I call it.",
            &[VendorCall::Own(
                "call_tool",
                json!({"server": "many", "tool": "tool_0123", "arguments": inner}),
            )],
        );
        call["expect"] = json!(["query", "newest"]);
        let mut describe = form.turn(
            "I ask about it.",
            &[VendorCall::Own("describe_tool", json!({"server": "many", "tool": "tool_0123"}))],
        );
        describe["expect"] = json!(["tool_0123"]);
        let talk = setup.start(&[
            form.turn("I look.", &[VendorCall::Own("find_tools", json!({"query": "tool_0123"}))]),
            describe,
            call,
            json!({"expect": ["fish"], "text": "Found."}),
        ]);
        let events = talk.task(&[], 0);
        assert_eq!(last_words(&events), "Found.", "{vendor:?} {form:?}");
        assert_eq!(
            talk.switchboard.recorded_calls(),
            ["tool many/tool_0123: ok"],
            "{vendor:?} {form:?}"
        );
        let body = &talk.bodies()[0];
        let mut offered = talk.offered_names(body);
        offered.sort();
        if form == Form::Native {
            let own =
                ["access_mcp_resource", "call_tool", "describe_tool", "find_tools", "read_result"];
            assert_eq!(offered, own, "{vendor:?}");
        } else {
            assert_eq!(offered, Vec::<String>::new());
            assert!(talk.system(body).contains("`find_tools`"), "{form:?}");
        }
    }
}
