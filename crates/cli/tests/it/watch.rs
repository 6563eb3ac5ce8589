//! Tests of `servers list --watch`, which follows the file: it starts added servers and stops
//! removed ones.

use std::time::Duration;

use serde_json::{Value, json};

use crate::running::{assert_gone, is_alive, started_pids};
use crate::switchboard::{Switchboard, fixture};

#[test]
fn a_changed_file_starts_and_stops_servers_and_leaves_the_others() {
    let switchboard = Switchboard::new();
    let trace = |name: &str| switchboard.text_path(&format!("{name}.trace"));
    let entry = |name: &str| fixture(&["echo", "--trace", &trace(name)]);
    let pids = |name: &str| started_pids(trace(name).as_ref());
    switchboard.configure(&json!({"kept": entry("kept"), "removed": entry("removed")}));
    let watching = switchboard.start(&["servers", "list", "--watch"]);
    watching.wait_for("kept\tready");
    watching.wait_for("removed\tready");
    let kept = pids("kept");
    let removed = pids("removed");

    switchboard.configure(&json!({"kept": entry("kept"), "added": entry("added")}));
    watching.wait_for("added\tready");
    let [removed] = removed[..] else { panic!("it was started as {removed:?}") };
    assert_gone(removed, Duration::from_secs(5));
    assert_eq!(pids("kept"), kept, "an unchanged server was started again");
    assert!(is_alive(kept[0]), "an unchanged server was ended");

    // An unreadable file changes nothing.
    switchboard.write_config("{");
    watching.wait_for("(configuration: ");
    let added = pids("added");
    assert!(is_alive(kept[0]) && is_alive(added[0]));

    watching.interrupt();
    watching.finish_within(Duration::from_secs(5)).expect(0);
    for pid in kept.into_iter().chain(added) {
        assert_gone(pid, Duration::from_secs(5));
    }
}

#[test]
fn with_json_every_line_is_an_object() {
    let switchboard = Switchboard::with(&json!({"echo": fixture(&["echo"])}));
    let watching = switchboard.start(&["servers", "list", "--watch", "--json"]);
    watching.wait_for("ready");
    watching.interrupt();
    let ran = watching.finish_within(Duration::from_secs(5)).expect(0);
    for line in ran.stdout.lines() {
        let event: Value = serde_json::from_str(line)
            .unwrap_or_else(|cause| panic!("`{line}` is not JSON: {cause}"));
        assert!(event.is_object(), "{line}");
    }
}

#[test]
fn events_without_words_of_their_own_are_lines_for_people() {
    let entry = || fixture(&["echo"]);
    let switchboard = Switchboard::with(&json!({"one": entry(), "two": entry()}));
    let watching = switchboard.start(&["servers", "list", "--watch"]);
    watching.wait_for("\none\tdefinition_flagged\t");
    watching.interrupt();
    let ran = watching.finish_within(Duration::from_secs(5)).expect(0);
    let flagged = ran.stdout.lines().find(|line| line.starts_with("one\tdefinition_flagged\t"));
    let flagged = flagged.unwrap();
    assert!(flagged.contains("\trules same_name"), "{flagged}");
    assert!(!ran.stdout.contains('{'), "{ran:?}");
}
