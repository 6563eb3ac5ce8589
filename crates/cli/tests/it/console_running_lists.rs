//! Lists in a home where `serve` runs come from its servers, which are started only once.

use serde_json::{Value, json};

use crate::console_person::Person;
use crate::serve_client::until;
use crate::switchboard::{Switchboard, fixture};
use crate::transcript::transcript;

fn start_count(switchboard: &Switchboard) -> usize {
    let traced = std::fs::read_to_string(switchboard.path("trace")).unwrap_or_default();
    traced.lines().filter(|line| line.contains("initialize")).count()
}

/// Returns the list without the members that only an instance with all servers can find.
fn plain(mut listed: Value) -> Value {
    for one in listed.as_array_mut().into_iter().flatten() {
        one.as_object_mut().unwrap().remove("found");
    }
    listed
}

#[test]
fn tools_resources_and_prompts_are_listed_without_starting_anything_again() {
    let switchboard = Switchboard::new();
    let trace = switchboard.text_path("trace");
    let servers = json!({
        "echo": fixture(&["echo", "--era", "legacy", "--trace", &trace]),
        "broken": {"command": "no-such-program-anywhere"},
    });
    switchboard.configure(&servers);
    let commands: [&[&str]; 7] = [
        &["tools"],
        &["tools", "--server", "echo"],
        &["tools", "search", "add", "numbers"],
        &["tools", "show", "echo", "add"],
        &["resources"],
        &["prompts"],
        &["tools", "--all"],
    ];
    let alone: Vec<_> = commands.iter().map(|words| switchboard.run(words).expect(0)).collect();
    let alone_json: Vec<_> = commands.iter().map(|words| switchboard.json(words)).collect();
    let person = Person::at(&switchboard, &[]);
    until(|| person.ask("servers/echo")["state"] == "ready");
    until(|| person.ask("servers/broken")["state"] != "starting");
    let before = start_count(&switchboard);
    for ((words, alone), whole) in commands.iter().zip(&alone).zip(&alone_json) {
        let beside = switchboard.run(words).expect(0);
        assert_eq!(beside.stdout, alone.stdout, "{words:?}");
        let one = plain(switchboard.json(words));
        let other = plain(whole.clone());
        assert_eq!(one, other, "{words:?}");
    }
    let told = switchboard.run(&["tools"]).expect(0).stderr;
    assert!(told.contains("server `broken` is not ready"), "{told}");
    assert_eq!(start_count(&switchboard), before, "nothing is started a second time");
    let unknown = switchboard.run(&["tools", "show", "echo", "ad"]).expect(2);
    insta::assert_snapshot!(transcript(&unknown), @"
    exit status 2
    --- stderr
    error: server `echo` lists no tool `ad`
    hint: `switchboard tools --server echo` lists them
    ");
    let own = start_count(&switchboard);
    switchboard.run(&["tools", "--no-running"]).expect(0);
    assert!(start_count(&switchboard) > own, "whoever wants their own has their own");
}
