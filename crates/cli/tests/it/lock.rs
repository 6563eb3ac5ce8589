//! `switchboard.lock`: `--locked` allows nothing but its entries.

use serde_json::{Value, json};

use crate::switchboard::{Switchboard, fixture};
use crate::transcript::transcript;

fn with_overlay() -> Switchboard {
    let switchboard = Switchboard::new();
    let overlay = switchboard.text_path("overlay");
    switchboard.configure(&json!({"srv": fixture(&["echo", "--overlay", &overlay])}));
    switchboard
}

#[test]
fn with_locked_a_server_that_tells_another_version_is_held() {
    let switchboard = with_overlay();
    let call = ["call", "srv", "echo", "text=a", "--locked"];
    switchboard.run(&["lock"]).expect(0);
    switchboard.run(&call).expect(0);
    let file = switchboard.path("switchboard.lock");
    let mut lock: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let told = lock["servers"]["srv"]["server"].as_str().unwrap().to_owned();
    lock["servers"]["srv"]["server"] = json!(format!("{told}.1"));
    std::fs::write(&file, lock.to_string()).unwrap();
    let refused = switchboard.run(&call).expect(5);
    insta::assert_snapshot!(transcript(&refused), @r#"
    exit status 5
    --- stderr
    warning: server `srv` is quarantined: not in the lock file
    hint: review with `switchboard pins diff srv`
    error: `srv/echo` does not match the lock file
    + annotations.destructiveHint: false
    + annotations.readOnlyHint: true
    + description: "Answers with the text."
    + inputSchema.properties.text.type: "string"
    + inputSchema.required.0: "text"
    + inputSchema.type: "object"
    + name: "echo"
    hint: see the differences with `switchboard lock --check`
    "#);
    let checked = switchboard.run(&["lock", "--check"]).expect(5);
    assert_eq!(checked.stdout, format!("~ srv: {told}.1 is now {told}\n"));
}

#[test]
fn with_locked_only_what_the_file_says_is_used_even_if_it_was_approved_since() {
    let switchboard = with_overlay();
    let call = ["call", "srv", "echo", "text=a", "--locked"];
    let missing = switchboard.run(&call).expect(3);
    insta::assert_snapshot!(transcript(&missing), @"
    exit status 3
    --- stderr
    error: no lock file ([work]/switchboard.lock)
    hint: create one with `switchboard lock`
    ");
    switchboard.run(&["lock"]).expect(0);
    let lock: Value = serde_json::from_str(
        &std::fs::read_to_string(switchboard.path("switchboard.lock")).unwrap(),
    )
    .unwrap();
    assert_eq!(lock["servers"]["srv"]["definitions"]["tool"]["echo"].as_str().unwrap().len(), 64);
    switchboard.run(&call).expect(0);
    switchboard.run(&["lock", "--check"]).expect(0);

    let tools = json!([{"name": "echo", "description": "Changed."}, {"name": "more"}]);
    switchboard.write("overlay", &json!({ "tools": tools }).to_string());
    switchboard.run(&["tools"]).expect(0);
    // Unapproved definitions cannot be locked.
    let refused = switchboard.run(&["lock"]).expect(5);
    insta::assert_snapshot!(transcript(&refused), @"
    exit status 5
    --- stderr
    warning: server `srv` has 2 quarantined definitions
    hint: review with `switchboard pins diff srv`
    error: server `srv` has unapproved definitions
    hint: review `switchboard pins diff srv`, then run `switchboard pins approve srv`
    ");
    switchboard.run(&["pins", "approve", "srv"]).expect(0);
    switchboard.run(&["call", "srv", "echo", "text=a"]).expect(0);
    let refused = switchboard.call(&["srv", "echo", "text=a", "--locked"], 5);
    assert_eq!(refused["reason"], "needs_approval");
    assert_eq!(
        refused["message"].as_str().unwrap().lines().next(),
        Some("`srv/echo` does not match the lock file")
    );
    switchboard.run(&["call", "srv", "add", "a=1", "b=2", "--locked"]).expect(0);
    let checked = switchboard.run(&["lock", "--check"]).expect(5);
    assert_eq!(checked.stdout, "~ tool srv/echo\n+ tool srv/more\n");
    switchboard.run(&["lock"]).expect(0);
    switchboard.run(&call).expect(0);
}

#[test]
fn with_locked_a_server_that_is_not_in_the_file_is_held_also_where_pins_are_off() {
    let switchboard = with_overlay();
    switchboard.run(&["lock"]).expect(0);
    let overlay = switchboard.text_path("overlay");
    let servers = json!({
        "srv": fixture(&["echo", "--overlay", &overlay, "--tools", "1"]), "new": fixture(&["echo"]),
    });
    let config = json!({"mcpServers": servers, "settings": {"pins": "off"}});
    switchboard.write_config(&config.to_string());
    for server in ["srv", "new"] {
        switchboard.run(&["call", server, "echo", "text=a"]).expect(0);
        switchboard.run(&["call", server, "echo", "text=a", "--locked"]).expect(5);
    }
    switchboard.run(&["call", "builtin", "echo", "text=a", "--locked"]).expect(0);
}

#[test]
fn with_locked_a_server_without_its_instructions_is_held() {
    let switchboard = with_overlay();
    let call = ["call", "srv", "echo", "text=a", "--locked"];
    switchboard.run(&["lock"]).expect(0);
    switchboard.run(&call).expect(0);
    switchboard.write("overlay", &json!({"instructions": null}).to_string());
    let refused = switchboard.run(&call).expect(5);
    insta::assert_snapshot!(transcript(&refused), @"
    exit status 5
    --- stderr
    warning: server `srv` is quarantined: not in the lock file
    hint: review with `switchboard pins diff srv`
    error: `srv/echo` does not match the lock file
    hint: see the differences with `switchboard lock --check`
    ");
    switchboard.run(&["call", "srv", "echo", "text=a"]).expect(0);
    let checked = switchboard.run(&["lock", "--check", "--locked"]).expect(5);
    insta::assert_snapshot!(transcript(&checked), @"
    exit status 5
    --- stdout
    - instructions srv/
    - tool srv/add
    - tool srv/ask
    - tool srv/big
    - tool srv/content
    - tool srv/echo
    - tool srv/environment
    - tool srv/fail
    - tool srv/grow
    - tool srv/pid
    - tool srv/slow
    - tool srv/write
    - prompt srv/greet
    - resource template srv/test://template/{id}
    --- stderr
    warning: server `srv` is quarantined: not in the lock file
    hint: review with `switchboard pins diff srv`
    ");
}
