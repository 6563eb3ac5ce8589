//! Tests of messages to and from servers: roots, log messages, resource changes, completions.

use std::time::Duration;

use serde_json::{Value, json};
use switchboard_config::{Environment, Places};
use switchboard_core::{Caller, EventKind, ProposedCall};
use switchboard_host::{Host, Options};
use switchboard_testkit::{Home, HttpFixture};
use switchboard_wire::Json;

use crate::running::TEST_TIMEOUT;
use crate::switchboard::{Switchboard, fixture, result_text};
use crate::testenv;
use crate::transcript::transcript;

const DOCUMENT: &str = "demo://resource/static/document/features.md";

fn everything() -> Switchboard {
    Switchboard::with(&json!({"everything": testenv::everything()}))
}

#[test]
fn a_folder_of_the_command_line_is_told_to_a_real_server_in_place_of_the_others() {
    let switchboard = Switchboard::new();
    let servers = json!({"everything": testenv::everything()});
    let config = json!({"mcpServers": servers, "settings": {"roots": ["/tmp/elsewhere"]}});
    switchboard.write_config(&config.to_string());
    std::fs::create_dir(switchboard.path("notes")).unwrap();
    let words = ["everything", "get-roots-list", "--root", "notes", "--root", "/tmp"];
    let listed = switchboard.call(&words, 0);
    let text = result_text(&listed);
    assert!(
        text.starts_with("Current MCP Roots (2 total):\n\n1. notes\n   URI: file://"),
        "{text}"
    );
    assert!(text.contains("notes\n\n2. tmp\n   URI: file:///tmp\n"), "{text}");
}

#[test]
fn arguments_of_a_real_servers_prompt_and_template_are_completed() {
    let switchboard = everything();
    let complete = ["complete", "everything", "completable-prompt"];
    let department = switchboard.run(&[&complete[..], &["department=S"]].concat()).expect(0);
    assert_eq!(department.stdout, "Sales\nSupport\n");
    let name = [&complete[..], &["name=", "--given", "department=Engineering"]].concat();
    assert_eq!(
        switchboard.json(&name),
        json!({"values": ["Alice", "Bob", "Charlie"], "total": 3, "hasMore": false})
    );
    let template = "demo://resource/dynamic/text/{resourceId}";
    let id = switchboard.run(&["complete", "everything", template, "resourceId=7"]).expect(0);
    assert_eq!(id.stdout, "7\n");
    let wrong =
        switchboard.run(&["complete", "everything", "completable-prompt", "name"]).expect(2);
    insta::assert_snapshot!(transcript(&wrong), @"
    exit status 2
    --- stderr
    error: the argument `name` is not a name and a value
    hint: write it as name=value; the value may be empty
    ");
    let builtin = switchboard.run(&["complete", "builtin", "x", "y="]).expect(4);
    insta::assert_snapshot!(transcript(&builtin), @"
    exit status 4
    --- stderr
    error: server `builtin` does not support completion
    ");
}

#[test]
fn a_real_server_is_subscribed_to_and_what_it_says_about_that_is_kept() {
    let switchboard = everything();
    let none = switchboard.run(&["servers", "logs", "everything", "--messages"]).expect(0);
    assert_eq!(none.stderr, "server `everything` has sent no messages yet\n");
    let watching = switchboard.start(&["resources", "watch", "everything", DOCUMENT]);
    watching.wait_for_note("watching demo://resource/static/document/features.md of everything");
    watching.interrupt();
    watching.finish_within(TEST_TIMEOUT).expect(0);
    let said = format!("Received Subscribe Resource request for URI: {DOCUMENT}");
    let shown = switchboard.run(&["servers", "logs", "everything", "--messages"]).expect(0);
    assert!(shown.stdout.contains(&format!(" info {said}")), "{shown:?}");
    let kept = switchboard.json(&["servers", "logs", "everything", "--messages", "-n", "50"]);
    let texts: Vec<&str> =
        kept.as_array().unwrap().iter().map(|kept| kept["text"].as_str().unwrap().trim()).collect();
    assert!(texts.contains(&said.as_str()), "{kept}");
}

#[tokio::test]
async fn a_real_server_tells_of_changes_of_a_resource() {
    let home = Home::new();
    let config = json!({"mcpServers": {"everything": testenv::everything()}});
    let places = Places {
        user: Some(home.write("config.json", config.to_string())),
        ..Places::without_files(home.path().join("state"))
    };
    let host = Host::start(Options::new(places, Environment::from_process())).unwrap();
    host.wait_settled(None).await;
    let mut events = host.events().watch();
    let subscription = host.subscribe("everything", DOCUMENT).unwrap();
    let mut toggled = false;
    let waiting = async {
        loop {
            match events.recv().await.unwrap().what {
                EventKind::ResourceSubscribed { problem, .. } if !toggled => {
                    assert_eq!(problem, None);
                    toggled = true;
                    let arguments = Json::from(&json!({}));
                    let toggle = "toggle-subscriber-updates";
                    let proposed = ProposedCall::tool("everything", toggle, arguments);
                    host.call(&host.lease(), proposed, &Caller::person()).await;
                }
                EventKind::ResourceUpdated { server, uri } => return (server, uri),
                _ => {}
            }
        }
    };
    let told = tokio::time::timeout(Duration::from_secs(20), waiting).await.unwrap();
    assert_eq!(told, ("everything".to_owned(), DOCUMENT.to_owned()));
    drop(subscription);
    host.stop().await;
}

#[test]
fn each_change_of_a_resource_is_printed_and_read_until_interrupted() {
    let server = HttpFixture::start(&["asker", "--era", "modern", "--transport", "http"]);
    let switchboard = Switchboard::with(&json!({"asker": {"url": server.url}}));
    let resource = "test://static-text";
    let plain = switchboard.start(&["resources", "watch", "asker", resource]);
    let read = ["resources", "watch", "asker", resource, "--read", "--json"];
    let read = switchboard.start(&read);
    plain.wait_for_note("watching test://static-text of asker");
    read.wait_for_note("watching test://static-text of asker");
    // The subscription request is in flight by then, and may be overtaken.
    let uri = format!("uri={resource}");
    let touched = crate::running::poll(TEST_TIMEOUT, || {
        switchboard.run(&["call", "asker", "touch", &uri]).expect(0);
        (plain.printed_text().contains(resource) && read.printed_text().contains(resource))
            .then_some(())
    });
    assert!(touched.is_some(), "no change was printed");
    plain.interrupt();
    read.interrupt();
    let plain = plain.finish_within(TEST_TIMEOUT).expect(0);
    assert_eq!(plain.stdout.lines().next(), Some(resource), "{plain:?}");
    let read = read.finish_within(TEST_TIMEOUT).expect(0);
    let first: Value = serde_json::from_str(read.stdout.lines().next().unwrap()).unwrap();
    assert_eq!((&first["uri"], &first["outcome"]), (&json!(resource), &json!("ok")));
    assert_eq!(first["result"]["contents"][0]["text"], "The text of a resource.");
}

#[test]
fn what_cannot_be_watched_is_refused_with_the_reason() {
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    let ran = switchboard.run(&["resources", "watch", "echo", "test://static-text"]).expect(4);
    let expected = "error: server `echo` does not support resource subscriptions\n";
    assert_eq!(ran.stderr, expected);
}

#[test]
fn bash_completes_the_values_of_a_prompts_arguments() {
    let switchboard = everything();
    let script = switchboard.run(&["completions", "bash"]).expect(0).stdout;
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_switchboard")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let line = "switchboard prompts get everything completable-prompt department=S";
    let trial = format!(
        "{script}\nPATH='{}':{path}\nCOMP_WORDS=(switchboard prompts get everything \
         completable-prompt department = S)\nCOMP_CWORD=7\nCOMP_LINE='{line}'\n\
         COMP_POINT=${{#COMP_LINE}}\n_switchboard_values\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n",
        program.display()
    );
    let file = switchboard.write("trial.bash", &trial);
    let mut command = std::process::Command::new("bash");
    command.arg(file);
    switchboard.surround(&mut command);
    let output = command.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "Sales\nSupport\n", "{output:?}");
}
