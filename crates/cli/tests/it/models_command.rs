//! `switchboard models`: the configured models, and whether they are reachable.

use serde_json::{Value, json};
use switchboard_testkit::{ModelFixture, ModelVendor};

use crate::running::{Ran, RunningProcess, TEST_TIMEOUT};
use crate::switchboard::Switchboard;
use crate::talking::{KEY, KEY_VARIABLE};
use crate::transcript::{redacted, transcript};

fn vendor(vendor: ModelVendor) -> ModelFixture {
    ModelFixture::start_with_key(vendor, KEY, &json!({"turns": []}))
}

fn profile(vendor: ModelVendor, fixture: &ModelFixture, model: &str) -> Value {
    json!({
        "provider": vendor.name(), "model": model, "baseUrl": fixture.base_url(),
        "apiKeyEnv": KEY_VARIABLE,
    })
}

fn with(models: &Value) -> Switchboard {
    let switchboard = Switchboard::new();
    let chat = json!({"model": "good"});
    let config = json!({"models": models, "settings": {"chat": chat}});
    switchboard.write_config(&config.to_string());
    switchboard
}

fn run(switchboard: &Switchboard, words: &[&str], code: i32) -> Ran {
    let mut command = switchboard.command(words);
    command.env(KEY_VARIABLE, KEY).env("WRONG", "sk-of-somebody-else");
    RunningProcess::start(&mut command).finish_within(TEST_TIMEOUT).expect(code)
}

#[test]
fn without_a_profile_the_next_step_is_told() {
    let switchboard = Switchboard::new();
    let mut seen = Vec::new();
    for words in [&["models"][..], &["models", "list"], &["models", "check"]] {
        let ran = run(&switchboard, words, 0);
        assert_eq!(ran.stdout, "");
        seen.push(transcript(&ran));
        let ran = run(&switchboard, &[words, &["--json"]].concat(), 0);
        assert_eq!(ran.json(), json!([]));
    }
    insta::assert_snapshot!(seen.join("\n\n"), @"
    exit status 0
    --- stderr
    no model profile configured
    hint: configure one in `models`, or pass `--model provider:model`

    exit status 0
    --- stderr
    no model profile configured
    hint: configure one in `models`, or pass `--model provider:model`

    exit status 0
    --- stderr
    no model profile configured
    hint: configure one in `models`, or pass `--model provider:model`
    ");
}

#[test]
fn a_list_asks_nobody() {
    let openai = vendor(ModelVendor::OpenAi);
    let switchboard = with(&json!({
        "good": profile(ModelVendor::OpenAi, &openai, "scripted-small"),
        "other": {"provider": "ollama", "model": "qwen3"},
    }));
    let listed = run(&switchboard, &["models", "list"], 0).stdout;
    assert_eq!(listed, "good (default)\topenai\tscripted-small\t\nother\tollama\tqwen3\t\n");
    let nothing = Value::Null;
    assert_eq!(
        run(&switchboard, &["models", "ls", "--json"], 0).json(),
        json!([
            {"name": "good", "provider": "openai", "model": "scripted-small", "default": true,
                "ok": nothing, "message": nothing, "hint": nothing},
            {"name": "other", "provider": "ollama", "model": "qwen3", "default": false,
                "ok": nothing, "message": nothing, "hint": nothing},
        ])
    );
    assert_eq!(openai.requests(), Vec::<Value>::new());
}

#[test]
fn a_good_model_is_found_with_its_key_in_the_right_place() {
    let mut seen = Vec::new();
    for (of, header, key, said) in [
        (
            ModelVendor::OpenAi,
            "authorization",
            format!("Bearer {KEY}"),
            "`openai` has the model `scripted-small`, among 2",
        ),
        (
            ModelVendor::Anthropic,
            "x-api-key",
            KEY.to_owned(),
            "`anthropic` has the model `scripted-small`",
        ),
        (
            ModelVendor::Gemini,
            "x-goog-api-key",
            KEY.to_owned(),
            "`gemini` has the model `scripted-small`",
        ),
    ] {
        let fixture = vendor(of);
        let switchboard = with(&json!({"good": profile(of, &fixture, "scripted-small")}));
        for words in [&["models"][..], &["models", "check"], &["models", "check", "good"]] {
            let checked = run(&switchboard, &[words, &["--json"]].concat(), 0).json();
            assert_eq!(
                checked,
                json!([{
                    "name": "good", "provider": of.name(), "model": "scripted-small",
                    "default": true, "ok": true, "message": said, "hint": null,
                }])
            );
        }
        let shown = run(&switchboard, &["models"], 0).stdout;
        seen.push(redacted(&shown));
        for request in fixture.requests() {
            assert_eq!([&request["verb"], &request["headers"][header]], ["GET", key.as_str()]);
        }
    }
    insta::assert_snapshot!(seen.join("\n\n"), @"
    good (default)	openai	scripted-small	`openai` has the model `scripted-small`, among 2


    good (default)	anthropic	scripted-small	`anthropic` has the model `scripted-small`


    good (default)	gemini	scripted-small	`gemini` has the model `scripted-small`
    ");
}

#[test]
fn a_model_that_cannot_be_asked_says_why_and_what_to_do() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let nobody = format!("http://{}/v1", free.local_addr().unwrap());
    drop(free);
    for of in ModelVendor::ALL {
        let fixture = vendor(of);
        let name = of.name();
        let good = profile(of, &fixture, "scripted-small");
        let other = |key: &str, value: &str| {
            let mut other = good.clone();
            other[key] = json!(value);
            other
        };
        let switchboard = with(&json!({
            "good": good.clone(),
            "wrong-key": other("apiKeyEnv", "WRONG"),
            "no-key": other("apiKeyEnv", "NOT_SET_ANYWHERE"),
            "unreachable": other("baseUrl", &nobody),
        }));
        let refused = format!("`{name}` rejected the API key (HTTP status ");
        let away = format!("`{name}` cannot be reached: ");
        for (profile, code, message, hint) in [
            ("wrong-key", 3, refused.as_str(), "check the key in the environment variable `WRONG`"),
            (
                "no-key",
                3,
                "no API key for the model `no-key`",
                "set the environment variable `NOT_SET_ANYWHERE`",
            ),
            ("unreachable", 6, away.as_str(), "check the network and `baseUrl`"),
        ] {
            let checked = run(&switchboard, &["models", "check", profile, "--json"], code).json();
            let row = &checked[0];
            assert_eq!([&row["ok"], &row["hint"]], [&json!(false), &json!(hint)], "{row}");
            assert!(row["message"].as_str().unwrap().starts_with(message), "{row}");
            let shown = run(&switchboard, &["models", "check", profile], code);
            assert!(shown.stdout.contains(&format!("error: {message}")), "{shown:?}");
            assert!(shown.stderr.contains(&format!("hint: {profile}: {hint}")), "{shown:?}");
            assert!(!format!("{shown:?}").contains("somebody"), "{shown:?}");
        }
        // One faulty model does not keep the others from being probed.
        let all = run(&switchboard, &["models", "--json"], 3).json();
        let ok: Vec<&Value> = all.as_array().unwrap().iter().map(|row| &row["ok"]).collect();
        assert_eq!(ok, [&json!(true), &json!(false), &json!(false), &json!(false)], "{all}");
    }
}

#[test]
fn a_model_that_the_vendor_does_not_have_is_told_with_what_it_has() {
    for (of, model) in [
        (ModelVendor::OpenAi, "scripted-smal"),
        (ModelVendor::Anthropic, "missing"),
        (ModelVendor::Gemini, "missing"),
    ] {
        let fixture = vendor(of);
        let switchboard = with(&json!({"good": profile(of, &fixture, model)}));
        let checked = run(&switchboard, &["models", "--json"], 3).json();
        let row = &checked[0];
        let name = of.name();
        let message = row["message"].as_str().unwrap();
        assert!(message.starts_with(&format!("`{name}` has no model `{model}`")), "{row}");
        assert!(row["hint"].as_str().unwrap().contains("scripted-small"), "{row}");
    }
}

#[test]
fn a_name_that_stands_for_no_profile_is_told_with_the_near_one() {
    let switchboard = with(&json!({"good": {"provider": "ollama", "model": "qwen3"}}));
    for words in [&["models", "check", "goood"][..], &["run", "hi", "--model", "goood"]] {
        let ran = run(&switchboard, words, 3);
        let expected = "error: unknown model `goood`\nhint: did you mean `good`?\n";
        assert_eq!([ran.stdout.as_str(), ran.stderr.as_str()], ["", expected]);
    }
}

#[test]
fn scripts_are_checked_too() {
    let switchboard = Switchboard::new();
    let script = switchboard.write("two.json", r#"{"turns": [{"text": "a"}, {"text": "b"}]}"#);
    let broken = switchboard.write("broken.json", r#"{"turns": ["#);
    let config = json!({"models": {
        "script": {"provider": "scripted", "file": script},
        "broken": {"provider": "scripted", "file": broken},
        "gone": {"provider": "scripted", "file": "nowhere.json"},
    }});
    switchboard.write_config(&config.to_string());
    for (name, code, message) in [
        ("script", 0, "has 2 turns"),
        ("broken", 3, "is not valid: "),
        ("gone", 3, "nowhere.json` cannot be read: "),
        ("scripted:two.json", 0, "the script `"),
    ] {
        let checked = run(&switchboard, &["models", "check", name, "--json"], code).json();
        assert!(checked[0]["message"].as_str().unwrap().contains(message), "{checked}");
    }
    let ran = run(&switchboard, &["run", "hi", "--model", "gone"], 3);
    insta::assert_snapshot!(transcript(&ran), @"
    exit status 3
    --- stderr
    error: the script `[home]/own/nowhere.json` cannot be read: No such file or directory (os error [number])
    ");
}

#[test]
fn a_wrong_profile_does_not_hide_a_good_one() {
    let mut seen = Vec::new();
    for wrong in [
        json!({"provider": "opnai", "model": "m"}),
        json!({"provider": "openai"}),
        json!({"model": "m"}),
        json!("openai"),
    ] {
        let switchboard = Switchboard::new();
        let script = switchboard.write("one.json", r#"{"turns": [{"text": "Here."}]}"#);
        let good = json!({"provider": "scripted", "file": script});
        let models = json!({ "good": good, "wrong": wrong });
        switchboard.write_config(&json!({ "models": models }).to_string());
        let ran = run(&switchboard, &["models", "--json"], 0);
        let names: Vec<Value> =
            ran.json().as_array().unwrap().iter().map(|row| row["name"].clone()).collect();
        assert_eq!(names, ["good"], "{wrong}");
        seen.push(redacted(&ran.stderr));
        let ran = run(&switchboard, &["run", "hi", "--model", "good"], 0);
        assert_eq!(ran.stdout, "Here.\n", "{wrong}");
    }
    insta::assert_snapshot!(seen.join("\n\n"), @r#"
    warning: `models.wrong.provider` cannot be `opnai` ([home]/own/config.json:1)
    hint: use one of `openai`, `anthropic`, `gemini`, `ollama`, `lmstudio`, `vllm`, `openrouter`, `scripted`


    warning: `models.wrong` needs a `model` ([home]/own/config.json:1)


    warning: `models.wrong` needs a `provider` ([home]/own/config.json:1)


    warning: `models.wrong` must be an object, not a string ([home]/own/config.json:1)
    hint: write `{"name": "value"}`
    "#);
}
