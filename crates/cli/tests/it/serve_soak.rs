//! A short load test of the gateway while its servers are killed; `cargo xtask bench soak` runs it
//! for longer.

use std::time::Duration;

use switchboard_testkit::soak::{SoakPlan, run};

#[test]
fn clients_record_and_servers_tell_the_same_of_every_call_while_servers_are_killed() {
    let plan = SoakPlan {
        program: env!("CARGO_BIN_EXE_switchboard").into(),
        clients: 50,
        servers: 8,
        tools: 200,
        length: Duration::from_secs(10),
        kills: 5,
        pause: Duration::from_millis(250),
        seed: 1,
        // Ten seconds of a debug build indicate little about memory growth.
        growth: 0.5,
    };
    let report = tokio::runtime::Runtime::new().unwrap().block_on(run(&plan)).unwrap();
    assert!(report.has_passed(), "{report}");
    println!("{report}");
}
