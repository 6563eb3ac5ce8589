//! Tests of Ctrl-C during a task: it ends at once, and everything so far is stored.

use std::time::Duration;

use serde_json::{Value, json};
use switchboard_testkit::ModelVendor;

use crate::running::{assert_gone, started_pids, wait_for_text};
use crate::switchboard::{Switchboard, fixture};
use crate::talking::{Form, Setup, VendorCall};

const SOON: Duration = Duration::from_secs(8);

#[test]
fn an_interrupt_during_the_answer_keeps_what_was_heard() {
    for vendor in ModelVendor::ALL {
        let text = "one two three four five six seven eight nine ten ".repeat(40);
        let talk = Setup::new((vendor, Form::Native))
            .start(&[json!({"text": text, "chunk": 10, "delayMs": 40})]);
        let running = talk.start(&["run", "count"]);
        running.wait_for("one two three");
        running.interrupt();
        let ran = running.finish_within(SOON).expect(130);
        assert!(ran.stderr.contains("… stopped"), "{vendor:?}: {ran:?}");
        assert!(ran.stdout.len() < text.len(), "{vendor:?}: it came to its end");
        let kept = talk.switchboard.run(&["sessions", "export", "last"]).expect(0).stdout;
        for part in ["count", "Stopped by the user."] {
            assert!(kept.contains(part), "{vendor:?}: no `{part}` in {kept}");
        }
        assert_eq!(talk.switchboard.json(&["sessions"]).as_array().unwrap().len(), 1);
    }
}

#[test]
fn an_interrupt_during_a_call_gives_it_up_and_ends_the_servers() {
    for (form, signal) in [(Form::Native, "INT"), (Form::Text, "INT"), (Form::Native, "TERM")] {
        let switchboard = Switchboard::new();
        let journal = switchboard.text_path("journal");
        let trace = switchboard.text_path("trace");
        let server = fixture(&["echo", "--journal", &journal, "--trace", &trace]);
        let calls = [
            VendorCall::Tool("echo", "slow", json!({"ms": 60_000})),
            VendorCall::Tool("echo", "write", json!({"key": "later"})),
        ];
        let turns = [form.turn("I wait.", &calls), json!({"text": "Never."})];
        let talk = Setup::new((ModelVendor::Anthropic, form))
            .servers(json!({ "echo": server }))
            .start_in(switchboard, &json!({ "turns": turns }));
        let running = talk.start(&["run", "wait", "--allow", "echo"]);
        wait_for_text(trace.as_ref(), "tools/call");
        running.signal(signal);
        let ran = running.finish_within(SOON).expect(130);
        assert!(ran.stderr.contains("✗ echo/slow: cancelled"), "{form:?} {signal}: {ran:?}");

        let recorded = talk.switchboard.recorded_calls();
        assert_eq!(recorded, ["tool echo/slow: cancelled (by_caller)"], "{form:?} {signal}");
        let told = wait_for_text(journal.as_ref(), "\n");
        assert!(told.starts_with("cancelled ") && !told.contains("write"), "{told}");
        for pid in started_pids(trace.as_ref()) {
            assert_gone(pid, SOON);
        }
        assert_eq!(talk.bodies().len(), 1, "the model is not asked again");
        let steps = talk.switchboard.json(&["sessions", "export", "last", "--form", "json"]);
        let inputs: Vec<&Value> =
            steps["steps"].as_array().unwrap().iter().map(|step| &step["input"]).collect();
        assert!(inputs.len() >= 4, "began, said, answered, cancelled, ended: {inputs:?}");
    }
}
