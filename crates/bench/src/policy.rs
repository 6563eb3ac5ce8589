//! `policy`: time of a decision among a thousand rules.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use switchboard_core::{Caller, Target, TargetKind};
use switchboard_policy::{Policy, PolicyFacts, SessionFacts, assess_risk};
use switchboard_rules::{Policies, PolicyLevel, policy_from_text};

use crate::error::Result;
use crate::meter::{measure_passes, median, median_of};
use crate::report::{ReportSection, Table, at_most, number};

const RULES: usize = 1_000;
const DECISIONS: u32 = 2_000;
const REPEATS: usize = 9;

#[derive(Deserialize, Serialize)]
struct PolicyTimes {
    plain_us: f64,
    condition_us: f64,
    risk_us: f64,
    load_ms: f64,
}

/// Generates rules, decides with them, and prints the times.
pub(crate) fn measure() -> Result<()> {
    let file: Arc<Path> = Path::new("policy.json").into();
    let text = json!({ "rules": rules() }).to_string();
    let begun = Instant::now();
    let policy = policy_from_text(PolicyLevel::Enterprise, &file, &text)?;
    let policy = Policy::new(&Policies { files: vec![policy], broken: None });
    let load_ms = begun.elapsed().as_secs_f64() * 1e3;
    let caller = Caller::person();
    let session = SessionFacts::default();
    let arguments = r#"{"path":"/data/a.txt","amount":12,"text":"some words"}"#;
    let decide = |name: &str| {
        let target = Target::new(TargetKind::Tool, "server9", name);
        let facts = PolicyFacts::without_definition(&target, arguments, None, &caller, &session);
        decision_micros(|| policy.ruling(&facts).is_some())
    };
    let target = Target::new(TargetKind::Tool, "server9", "tool");
    let facts = PolicyFacts::without_definition(&target, arguments, None, &caller, &session);
    let found = PolicyTimes {
        plain_us: median((0..REPEATS).map(|_| decide("other"))),
        condition_us: median((0..REPEATS).map(|_| decide("when9"))),
        risk_us: median((0..REPEATS).map(|_| decision_micros(|| assess_risk(&facts).score > 0))),
        load_ms,
    };
    println!("{}", serde_json::to_string(&found)?);
    Ok(())
}

/// Returns rules for exact names, rules for patterns with stars in several places, and rules with a
/// condition.
fn rules() -> Vec<Value> {
    let rule = |number: usize| match number % 5 {
        0 => json!({"effect": "deny", "target": format!("server{}/delete{number}", number % 50)}),
        1 => json!({"effect": "ask", "target": format!("server{}/write_{number}*", number % 50)}),
        2 => json!({"effect": "allow", "target": format!("other{number}/*")}),
        3 => json!({"effect": "deny", "target": format!("*/danger{number}")}),
        _ => json!({
            "effect": "ask",
            "target": format!("server{}/when{number}", number % 50),
            "when": "path_in(args.path, '/etc') || args.amount > 500",
        }),
    };
    (0..RULES).map(rule).collect()
}

/// Returns the microseconds per decision, averaged over many.
fn decision_micros(mut decide: impl FnMut() -> bool) -> f64 {
    let begun = Instant::now();
    for _ in 0..DECISIONS {
        std::hint::black_box(decide());
    }
    begun.elapsed().as_secs_f64() * 1e6 / f64::from(DECISIONS)
}

/// Measures in child processes and returns the report.
pub(crate) async fn section(passes: usize) -> Result<ReportSection> {
    let found: Vec<PolicyTimes> = measure_passes("policy", passes).await?;
    let middle = |of: fn(&PolicyTimes) -> f64| median_of(&found, of);
    let plain = middle(|found| found.plain_us);
    let row = vec![
        number(plain),
        number(middle(|found| found.condition_us)),
        number(middle(|found| found.risk_us)),
        number(middle(|found| found.load_ms)),
    ];
    let head = "decision µs|with a condition µs|risk µs|load ms";
    Ok(ReportSection {
        title: "policy".to_owned(),
        note: format!(
            "{RULES} rules; a tool that the patterns of 200 rules could match, and one with a \
             condition of its own. Median of {passes}."
        ),
        table: Table { head, rows: vec![row] },
        targets: vec![at_most("a decision among 1,000 rules", 20.0, plain, " µs")],
        measured: json!(found),
    })
}
