//! Tests of two servers in one task: the result of the first one decides the call to the second
//! one.

use serde_json::{Value, json};
use switchboard_testkit::ModelVendor;

use crate::switchboard::{Switchboard, fixture, result_text};
use crate::talking::{FORMS, Form, Setup, last_words, wrapped_call};

const GITHUB: &str = "github.com/modelcontextprotocol/servers/tree/main/src/github";

/// The values that differ between cases.
struct Case {
    weather: &'static str,
    github: &'static str,
    city: &'static str,
    owner: &'static str,
    title: &'static str,
    body: &'static str,
}

const CASES: [Case; 2] = [
    Case {
        weather: "weather",
        github: GITHUB,
        city: "Oslo",
        owner: "octocat",
        title: "Pack for ${degrees} degrees and ${sky}",
        body: "The forecast for tomorrow says:\n\n- ${degrees} C\n- ${sky}",
    },
    Case {
        weather: "wetter-天気 für alle",
        github: "проекты/gîthub.com:8443/ø",
        city: "東京 (Tōkyō)",
        owner: "zoë",
        title: "🌡 ${degrees} °C & \"${sky}\" <morgen>",
        body: "Grüße\t— naïve café, \\ / \u{1f469}\u{200d}\u{1f680}",
    },
];

/// Returns the names of the two tools for models.
fn names(switchboard: &Switchboard, case: &Case) -> [String; 2] {
    let tools = switchboard.json(&["tools", "list"]);
    [case.weather, case.github].map(|server| {
        let mut all = tools.as_array().unwrap().iter();
        let tool = all.find(|tool| tool["server"] == server).expect("the server is there");
        tool["model_name"].as_str().unwrap().to_owned()
    })
}

/// Returns a call in the form: with the real name of the server, or with the name for models.
fn call(form: Form, names: [&str; 3], arguments: &Value) -> Value {
    let [server, tool, name] = names;
    match form {
        Form::Native => json!({"text": "So:", "calls": [{"name": name, "arguments": arguments}]}),
        Form::Text => json!({"text": format!("So:\n\n{}", wrapped_call(server, tool, arguments))}),
        Form::Tags => {
            let inner = arguments.as_object().unwrap().iter();
            let inner: String = inner
                .map(|(key, value)| format!("<{key}>{}</{key}>\n", value.as_str().unwrap()))
                .collect();
            json!({"text": format!("So:\n\n<{name}>\n{inner}</{name}>")})
        }
    }
}

fn check(case: &Case, vendor: ModelVendor, form: Form) {
    let switchboard = Switchboard::new();
    let store = switchboard.text_path("issues");
    let servers = json!({
        case.weather: fixture(&["weather"]), case.github: fixture(&["github", "--store", &store]),
    });
    switchboard.configure(&servers);
    let [weather, github] = names(&switchboard, case);
    let city = format!("city={}", case.city);
    let forecast = switchboard.call(&[case.weather, "get_forecast", &city], 0);
    let forecast = result_text(&forecast).to_owned();
    let day = forecast.split("day 1: ").nth(1).unwrap().split(';').next().unwrap();
    let (degrees, sky) = day.split_once(" C, ").unwrap();

    let ask = json!({"city": case.city});
    let issue = json!({
        "owner": case.owner, "repo": "notes", "title": case.title, "body": case.body,
    });
    let mut create = call(form, [case.github, "create_issue", &github], &issue);
    create["expect"] = json!(["Forecast for", case.city]);
    create["capture"] = json!({
        "degrees": {"after": "day 1: ", "before": " C"}, "sky": {"after": " C, ", "before": ";"},
    });
    let turns = [
        call(form, [case.weather, "get_forecast", &weather], &ask),
        create,
        json!({"expect": ["Created issue #1: "], "text": "The issue is there: ${degrees}, ${sky}."}),
    ];
    let script = json!({ "turns": turns });
    let talk = Setup::new((vendor, form)).servers(servers).start_in(switchboard, &script);
    let events = talk.task(&["--server", case.weather, "--server", case.github], 0);

    let name = format!("{vendor:?} {form:?} {}", case.city);
    assert_eq!(last_words(&events), format!("The issue is there: {degrees}, {sky}."), "{name}");
    let filled = |text: &str| text.replace("${degrees}", degrees).replace("${sky}", sky);
    let kept: Vec<Value> = std::fs::read_to_string(&store)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let expected = json!({
        "number": 1, "owner": case.owner, "repo": "notes",
        "title": filled(case.title), "body": filled(case.body),
    });
    assert_eq!(kept, [expected], "{name}");
    let [weather, github] = [case.weather, case.github];
    let expected = [
        // The call at the start of this test.
        format!("tool {weather}/get_forecast: ok"),
        format!("tool {weather}/get_forecast: ok"),
        format!("tool {github}/create_issue: ok"),
    ];
    assert_eq!(talk.switchboard.recorded_calls(), expected, "{name}");
}

#[test]
fn an_issue_is_created_from_the_forecast_natively_with_every_vendor() {
    for vendor in ModelVendor::ALL {
        check(&CASES[0], vendor, Form::Native);
    }
}

#[test]
fn an_issue_is_created_from_the_forecast_in_xml_with_every_vendor() {
    for vendor in ModelVendor::ALL {
        check(&CASES[0], vendor, Form::Text);
    }
}

#[test]
fn an_issue_is_created_from_the_forecast_in_elements_named_like_the_tools() {
    for vendor in ModelVendor::ALL {
        check(&CASES[0], vendor, Form::Tags);
    }
}

#[test]
fn names_and_values_of_any_language_arrive_unharmed() {
    for (vendor, form) in ModelVendor::ALL.into_iter().zip(FORMS) {
        check(&CASES[1], vendor, form);
    }
    check(&CASES[1], ModelVendor::Gemini, Form::Native);
}
