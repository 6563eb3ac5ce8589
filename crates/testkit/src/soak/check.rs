//! Compares the three accounts, call by call.

use std::collections::HashMap;

use super::account::{Accounts, End, Row, Seen};
use super::plan::Plan;

/// How many are told one by one.
const SHOWN: usize = 20;

/// What does not agree.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Faults {
    pub(super) count: usize,
    /// The first of them.
    pub(super) shown: Vec<String>,
}

impl Faults {
    pub(super) fn add(&mut self, fault: String) {
        self.count += 1;
        if self.shown.len() < SHOWN {
            self.shown.push(fault);
        }
    }
}

/// How often a call may have arrived, by what the record says of it. Nothing is marked as
/// repeatable, so that never more than one attempt can have left.
fn arrivals(outcome: &str) -> std::ops::RangeInclusive<usize> {
    match outcome {
        "ok" | "tool_error" | "invalid_output" => 1..=1,
        "not_sent" | "refused" | "denied" | "rejected" => 0..=0,
        _ => 0..=1,
    }
}

/// Finds all that does not agree.
pub(super) fn compare(accounts: &Accounts) -> Faults {
    let mut faults = Faults::default();
    let mut journals = accounts.journals.clone();
    for (client, (seen, rows)) in accounts.clients.iter().zip(&accounts.record).enumerate() {
        let mut by_call: HashMap<&str, Vec<&Row>> = HashMap::new();
        for row in rows {
            by_call.entry(&row.call).or_default().push(row);
        }
        for (number, seen) in seen.iter().enumerate() {
            let id = format!("{client}-{number}");
            let arrived = journals.remove(&id).unwrap_or_default();
            match by_call.remove(id.as_str()).as_deref() {
                // A client that does not wait may hang up before its request is read.
                None if seen.end == End::GivenUp && arrived.is_empty() => {}
                None => faults.add(format!("call {id}: it is not recorded")),
                Some([row]) => {
                    if let Some(fault) = one(seen, row, &arrived) {
                        faults.add(format!("call {id} ({}): {fault}", row.id));
                    }
                }
                Some(rows) => faults.add(format!("call {id}: it is recorded {} times", rows.len())),
            }
        }
        let mut left: Vec<&Row> = by_call.into_values().flatten().collect();
        left.sort_by_key(|row| &row.id);
        for row in left {
            faults.add(format!("row {} is of no call of {}", row.id, Plan::client(client)));
        }
    }
    if accounts.strangers > 0 {
        faults.add(format!("{} rows of the record belong to nobody", accounts.strangers));
    }
    for (id, servers) in journals {
        faults.add(format!("call {id} arrived at {servers:?} and is in no other account"));
    }
    faults
}

fn one(seen: &Seen, row: &Row, arrived: &[usize]) -> Option<String> {
    let server = Plan::server(seen.server);
    if (row.server.as_str(), row.target.as_str()) != (&server, &*seen.tool) {
        return Some(format!(
            "{server}/{} is recorded as {}/{}",
            seen.tool, row.server, row.target
        ));
    }
    let Some(outcome) = &row.outcome else { return Some("it has no outcome".to_owned()) };
    match &seen.end {
        End::Trouble(trouble) => return Some(format!("the client saw: {trouble}")),
        End::Outcome(told) if **told != **outcome => {
            return Some(format!("the client was told `{told}`, the record says `{outcome}`"));
        }
        End::Outcome(_) | End::GivenUp => {}
    }
    if arrived.iter().any(|at| *at != seen.server) {
        return Some(format!("it was meant for {server} and arrived at {arrived:?}"));
    }
    if !arrivals(outcome).contains(&arrived.len()) {
        return Some(format!("`{outcome}` arrived {} times", arrived.len()));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::account::{Accounts, End, Row, Seen};
    use super::compare;

    fn told(outcome: &str) -> End {
        End::Outcome(outcome.into())
    }

    /// What is found wrong with one call to `s000/echo_001`.
    fn check(end: End, outcome: Option<&str>, arrived: &[usize]) -> Vec<String> {
        let seen = Seen { server: 0, tool: "echo_001".into(), end, microseconds: 1 };
        let row = Row {
            id: "7".to_owned(),
            server: "s000".to_owned(),
            target: "echo_001".to_owned(),
            outcome: outcome.map(str::to_owned),
            call: "0-0".to_owned(),
        };
        compare(&accounts(vec![seen], vec![row], arrived)).shown
    }

    fn accounts(seen: Vec<Seen>, rows: Vec<Row>, arrived: &[usize]) -> Accounts {
        let mut accounts =
            Accounts { clients: vec![seen], record: vec![rows], ..Default::default() };
        if !arrived.is_empty() {
            accounts.journals.insert("0-0".to_owned(), arrived.to_vec());
        }
        accounts
    }

    #[test]
    fn accounts_that_agree_have_no_fault() {
        for (outcome, arrived) in [
            ("ok", &[0][..]),
            ("tool_error", &[0]),
            ("not_sent", &[]),
            ("unknown", &[]),
            ("unknown", &[0]),
            ("cancelled", &[0]),
        ] {
            assert_eq!(check(told(outcome), Some(outcome), arrived), [""; 0], "{outcome}");
            assert_eq!(check(End::GivenUp, Some(outcome), arrived), [""; 0], "{outcome}");
        }
    }

    #[test]
    fn a_call_may_be_given_up_before_anybody_hears_of_it_but_not_after() {
        let seen = |end: End, tool: &str| {
            let tool = tool.into();
            Seen { server: 0, tool, end, microseconds: 1 }
        };
        let row = Row {
            id: "7".to_owned(),
            server: "s000".to_owned(),
            target: "echo_001".to_owned(),
            outcome: Some("ok".to_owned()),
            call: "0-1".to_owned(),
        };
        let calls = vec![seen(End::GivenUp, "slow_001"), seen(told("ok"), "echo_001")];
        let mut both = accounts(calls, vec![row], &[]);
        both.journals.insert("0-1".to_owned(), vec![0]);
        assert_eq!(compare(&both).shown, [""; 0]);
        both.journals.insert("0-0".to_owned(), vec![0]);
        assert_eq!(compare(&both).shown, ["call 0-0: it is not recorded"]);
    }

    #[test]
    fn every_kind_of_disagreement_is_a_fault() {
        for (end, outcome, arrived, expected) in [
            (told("ok"), Some("ok"), &[][..], "`ok` arrived 0 times"),
            (told("ok"), Some("ok"), &[0, 0], "`ok` arrived 2 times"),
            (told("not_sent"), Some("not_sent"), &[0], "`not_sent` arrived 1 times"),
            (told("unknown"), Some("unknown"), &[0, 0], "`unknown` arrived 2 times"),
            (End::GivenUp, Some("cancelled"), &[0, 0], "`cancelled` arrived 2 times"),
            (End::GivenUp, Some("ok"), &[], "`ok` arrived 0 times"),
            (told("ok"), Some("ok"), &[1], "it was meant for s000 and arrived at [1]"),
            (told("ok"), None, &[0], "it has no outcome"),
            (
                told("ok"),
                Some("unknown"),
                &[0],
                "the client was told `ok`, the record says `unknown`",
            ),
            (End::Trouble("404".to_owned()), Some("ok"), &[0], "the client saw: 404"),
        ] {
            assert_eq!(check(end, outcome, arrived), [format!("call 0-0 (7): {expected}")]);
        }
    }

    #[test]
    fn calls_that_are_missing_in_one_account_are_faults() {
        let seen = Seen { server: 0, tool: "a".into(), end: told("ok"), microseconds: 1 };
        let row = |target: &str| Row {
            id: "7".to_owned(),
            server: "s000".to_owned(),
            target: target.to_owned(),
            outcome: Some("ok".to_owned()),
            call: "0-0".to_owned(),
        };
        let mut stranger = accounts(vec![seen.clone()], vec![row("a")], &[0]);
        stranger.strangers = 2;
        for (accounts, expected) in [
            (accounts(vec![seen.clone()], Vec::new(), &[]), "call 0-0: it is not recorded"),
            (
                accounts(vec![seen.clone()], vec![row("a"), row("a")], &[0]),
                "call 0-0: it is recorded 2 times",
            ),
            (accounts(Vec::new(), vec![row("a")], &[]), "row 7 is of no call of soak-0"),
            (
                accounts(vec![seen], vec![row("b")], &[0]),
                "call 0-0 (7): s000/a is recorded as s000/b",
            ),
            (
                accounts(Vec::new(), Vec::new(), &[0]),
                "call 0-0 arrived at [0] and is in no other account",
            ),
            (stranger, "2 rows of the record belong to nobody"),
        ] {
            assert_eq!(compare(&accounts).shown, [expected]);
        }
    }
}
