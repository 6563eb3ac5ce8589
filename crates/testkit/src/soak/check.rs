//! Compares the three accounts of a soak (clients, record and journals), call by call.

use std::collections::{HashMap, HashSet};

use super::plan::SoakPlan;

/// Number of lost or unrecorded calls that is always tolerated: too few to show a trend.
const MIN_SAMPLE: usize = 5;
/// Maximum number of faults that a report lists individually.
const MAX_LISTED_FAULTS: usize = 20;

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Faults {
    pub(super) count: usize,
    pub(super) shown: Vec<String>,
}

impl Faults {
    pub(super) fn add(&mut self, fault: String) {
        self.count += 1;
        if self.shown.len() < MAX_LISTED_FAULTS {
            self.shown.push(fault);
        }
    }
}

/// Returns how often a call may have arrived at its server, by its recorded outcome. No tool is
/// marked as repeatable, so at most one attempt can have been sent.
fn arrivals(outcome: &str) -> std::ops::RangeInclusive<usize> {
    match outcome {
        "ok" | "tool_error" | "invalid_output" => 1..=1,
        "not_sent" | "refused" | "denied" | "rejected" => 0..=0,
        _ => 0..=1,
    }
}

/// Whether an outcome means that the server was lost during the call.
fn is_loss(outcome: &str) -> bool {
    !matches!(outcome, "ok" | "tool_error" | "cancelled")
}

pub(super) fn compare(accounts: &Accounts) -> Faults {
    let mut faults = Faults::default();
    let mut journals = accounts.journals.clone();
    let mut given_up = 0;
    let mut unheard = 0;
    for (client, (seen, rows)) in accounts.clients.iter().zip(&accounts.record).enumerate() {
        let mut by_call: HashMap<&str, Vec<&RecordRow>> = HashMap::new();
        for row in rows {
            by_call.entry(&row.call).or_default().push(row);
        }
        if seen.is_empty() {
            faults.add(format!("{} made no call", SoakPlan::client(client)));
        }
        for (number, seen) in seen.iter().enumerate() {
            let id = format!("{client}-{number}");
            let arrived = journals.remove(&id).unwrap_or_default();
            given_up += usize::from(seen.end == ClientEnd::GivenUp);
            match by_call.remove(id.as_str()).as_deref() {
                // A client that does not wait may hang up before its request is read.
                None if seen.end == ClientEnd::GivenUp && arrived.is_empty() => unheard += 1,
                None => faults.add(format!("call {id}: it is not recorded")),
                Some([row]) => {
                    let fault = check_call(seen, row, &arrived)
                        .or_else(|| impossible_loss(seen, row, accounts));
                    if let Some(fault) = fault {
                        faults.add(format!("call {id} ({}): {fault}", row.id));
                    }
                }
                Some(rows) => faults.add(format!("call {id}: it is recorded {} times", rows.len())),
            }
        }
        let mut left: Vec<&RecordRow> = by_call.into_values().flatten().collect();
        left.sort_by_key(|row| &row.id);
        for row in left {
            faults.add(format!("row {} is of no call of {}", row.id, SoakPlan::client(client)));
        }
    }
    // Only a few are plausible: clients wait for longer than a request takes to be read.
    if unheard > MIN_SAMPLE + given_up / 20 {
        faults.add(format!("{unheard} of {given_up} calls that were given up are not recorded"));
    }
    too_many_lost(accounts, &mut faults);
    for trouble in &accounts.trouble {
        faults.add(trouble.clone());
    }
    if accounts.strangers > 0 {
        faults.add(format!("{} rows of the record belong to nobody", accounts.strangers));
    }
    for (id, arrived) in journals {
        let servers: Vec<usize> = arrived.iter().map(|arrival| arrival.server).collect();
        faults.add(format!("call {id} arrived at {servers:?} and is in no other account"));
    }
    faults
}

/// Returns a fault if a call was lost although its server was never killed.
fn impossible_loss(seen: &ClientCall, row: &RecordRow, accounts: &Accounts) -> Option<String> {
    // A client that gave up did not wait for the outcome, so a loss is possible without a kill.
    let waited = |_: &&str| seen.end != ClientEnd::GivenUp;
    let outcome = row.outcome.as_deref().filter(|outcome| is_loss(outcome)).filter(waited)?;
    (!accounts.killed.contains(&seen.server))
        .then(|| format!("`{outcome}`, though {} was not killed", SoakPlan::server(seen.server)))
}

/// Adds a fault if too many calls were lost: the accounts also agree if nothing ever works.
fn too_many_lost(accounts: &Accounts, faults: &mut Faults) {
    let all: usize = accounts.clients.iter().map(Vec::len).sum();
    let is_lost =
        |seen: &&ClientCall| matches!(&seen.end, ClientEnd::Outcome(outcome) if is_loss(outcome));
    let lost = accounts.clients.iter().flatten().filter(is_lost).count();
    if lost > MIN_SAMPLE + all / 2 {
        faults.add(format!("{lost} of {all} calls were lost"));
    }
}

fn check_call(seen: &ClientCall, row: &RecordRow, arrived: &[ServerArrival]) -> Option<String> {
    let server = SoakPlan::server(seen.server);
    if (row.server.as_str(), row.target.as_str()) != (&server, &*seen.tool) {
        return Some(format!(
            "{server}/{} is recorded as {}/{}",
            seen.tool, row.server, row.target
        ));
    }
    let Some(outcome) = &row.outcome else { return Some("it has no outcome".to_owned()) };
    match &seen.end {
        ClientEnd::Trouble(trouble) => return Some(format!("the client saw: {trouble}")),
        ClientEnd::Outcome(told) if **told != **outcome => {
            return Some(format!("the client was told `{told}`, the record says `{outcome}`"));
        }
        ClientEnd::Outcome(_) | ClientEnd::GivenUp => {}
    }
    if let Some(other) = arrived.iter().find(|at| at.server != seen.server || at.tool != seen.tool)
    {
        let at = SoakPlan::server(other.server);
        let tool = &other.tool;
        return Some(format!("{server}/{} arrived as {at}/{tool}", seen.tool));
    }
    if !arrivals(outcome).contains(&arrived.len()) {
        return Some(format!("`{outcome}` arrived {} times", arrived.len()));
    }
    None
}

/// One call as its client saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClientCall {
    pub(super) server: usize,
    pub(super) tool: Box<str>,
    pub(super) end: ClientEnd,
    pub(super) microseconds: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ClientEnd {
    Outcome(Box<str>),
    /// The client did not wait for the answer.
    GivenUp,
    /// An end that no call should have, with a description.
    Trouble(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RecordRow {
    pub(super) id: String,
    pub(super) server: String,
    pub(super) target: String,
    /// `None` while the call is in flight.
    pub(super) outcome: Option<String>,
    /// Id of the call, from its arguments.
    pub(super) call: String,
}

#[derive(Debug, Default)]
pub(super) struct Accounts {
    /// The calls of each client as it saw them, in order.
    pub(super) clients: Vec<Vec<ClientCall>>,
    /// The recorded rows of each client, in any order.
    pub(super) record: Vec<Vec<RecordRow>>,
    /// Number of recorded rows whose caller is not a client of this soak.
    pub(super) strangers: usize,
    /// Arrivals of each call at servers, by call id.
    pub(super) journals: HashMap<String, Vec<ServerArrival>>,
    /// Problems that clients had outside of their calls.
    pub(super) trouble: Vec<String>,
    /// Servers that were killed; only their calls may be lost.
    pub(super) killed: HashSet<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ServerArrival {
    pub(super) server: usize,
    pub(super) tool: Box<str>,
}

#[cfg(test)]
mod tests {
    use super::compare;
    use super::{Accounts, ClientCall, ClientEnd, RecordRow, ServerArrival};

    fn told(outcome: &str) -> ClientEnd {
        ClientEnd::Outcome(outcome.into())
    }

    /// Returns the faults of one call to `s000/echo_001`.
    fn check(end: ClientEnd, outcome: Option<&str>, arrived: &[usize]) -> Vec<String> {
        let seen = ClientCall { server: 0, tool: "echo_001".into(), end, microseconds: 1 };
        let row = RecordRow {
            id: "7".to_owned(),
            server: "s000".to_owned(),
            target: "echo_001".to_owned(),
            outcome: outcome.map(str::to_owned),
            call: "0-0".to_owned(),
        };
        compare(&accounts(vec![seen], vec![row], arrived)).shown
    }

    fn accounts(seen: Vec<ClientCall>, rows: Vec<RecordRow>, arrived: &[usize]) -> Accounts {
        let mut accounts =
            Accounts { clients: vec![seen], record: vec![rows], ..Default::default() };
        if !arrived.is_empty() {
            let arrived = arrived.iter().map(|server| at(*server, "echo_001")).collect();
            accounts.journals.insert("0-0".to_owned(), arrived);
        }
        accounts.killed.insert(0);
        accounts
    }

    fn at(server: usize, tool: &str) -> ServerArrival {
        ServerArrival { server, tool: tool.into() }
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
            assert_eq!(check(ClientEnd::GivenUp, Some(outcome), arrived), [""; 0], "{outcome}");
        }
    }

    #[test]
    fn a_call_may_be_given_up_before_anybody_hears_of_it_but_not_after() {
        let seen = |end: ClientEnd, tool: &str| {
            let tool = tool.into();
            ClientCall { server: 0, tool, end, microseconds: 1 }
        };
        let row = RecordRow {
            id: "7".to_owned(),
            server: "s000".to_owned(),
            target: "echo_001".to_owned(),
            outcome: Some("ok".to_owned()),
            call: "0-1".to_owned(),
        };
        let calls = vec![seen(ClientEnd::GivenUp, "slow_001"), seen(told("ok"), "echo_001")];
        let mut both = accounts(calls, vec![row], &[]);
        both.journals.insert("0-1".to_owned(), vec![at(0, "echo_001")]);
        assert_eq!(compare(&both).shown, [""; 0]);
        both.journals.insert("0-0".to_owned(), vec![at(0, "slow_001")]);
        assert_eq!(compare(&both).shown, ["call 0-0: it is not recorded"]);
    }

    #[test]
    fn every_kind_of_disagreement_is_a_fault() {
        for (end, outcome, arrived, expected) in [
            (told("ok"), Some("ok"), &[][..], "`ok` arrived 0 times"),
            (told("ok"), Some("ok"), &[0, 0], "`ok` arrived 2 times"),
            (told("not_sent"), Some("not_sent"), &[0], "`not_sent` arrived 1 times"),
            (told("unknown"), Some("unknown"), &[0, 0], "`unknown` arrived 2 times"),
            (ClientEnd::GivenUp, Some("cancelled"), &[0, 0], "`cancelled` arrived 2 times"),
            (ClientEnd::GivenUp, Some("ok"), &[], "`ok` arrived 0 times"),
            (told("ok"), Some("ok"), &[1], "s000/echo_001 arrived as s001/echo_001"),
            (told("ok"), None, &[0], "it has no outcome"),
            (
                told("ok"),
                Some("unknown"),
                &[0],
                "the client was told `ok`, the record says `unknown`",
            ),
            (ClientEnd::Trouble("404".to_owned()), Some("ok"), &[0], "the client saw: 404"),
        ] {
            assert_eq!(check(end, outcome, arrived), [format!("call 0-0 (7): {expected}")]);
        }
    }

    #[test]
    fn calls_that_are_missing_in_one_account_are_faults() {
        let seen =
            ClientCall { server: 0, tool: "echo_001".into(), end: told("ok"), microseconds: 1 };
        let row = |target: &str| RecordRow {
            id: "7".to_owned(),
            server: "s000".to_owned(),
            target: target.to_owned(),
            outcome: Some("ok".to_owned()),
            call: "0-0".to_owned(),
        };
        let good = || accounts(vec![seen.clone()], vec![row("echo_001")], &[0]);
        let other = RecordRow { id: "8".to_owned(), call: "0-7".to_owned(), ..row("echo_001") };
        let mut stranger = good();
        let mut elsewhere = good();
        let mut other_tool = good();
        let mut trouble = good();
        stranger.strangers = 2;
        elsewhere.journals.insert("0-9".to_owned(), vec![at(3, "echo_001")]);
        other_tool.journals.insert("0-0".to_owned(), vec![at(0, "fail_001")]);
        trouble.trouble.push("soak-0: no tools are listed".to_owned());
        for (accounts, expected) in [
            (accounts(vec![seen.clone()], Vec::new(), &[]), "call 0-0: it is not recorded"),
            (
                accounts(vec![seen.clone()], vec![row("echo_001"), row("echo_001")], &[0]),
                "call 0-0: it is recorded 2 times",
            ),
            (
                accounts(vec![seen.clone()], vec![row("echo_001"), other], &[0]),
                "row 8 is of no call of soak-0",
            ),
            (
                accounts(vec![seen], vec![row("b")], &[0]),
                "call 0-0 (7): s000/echo_001 is recorded as s000/b",
            ),
            (accounts(Vec::new(), Vec::new(), &[]), "soak-0 made no call"),
            (elsewhere, "call 0-9 arrived at [3] and is in no other account"),
            (other_tool, "call 0-0 (7): s000/echo_001 arrived as s000/fail_001"),
            (trouble, "soak-0: no tools are listed"),
            (stranger, "2 rows of the record belong to nobody"),
        ] {
            assert_eq!(compare(&accounts).shown, [expected]);
        }
    }
    /// Returns the faults of `count` calls that all end in the same way.
    fn check_many(
        count: usize,
        end: &ClientEnd,
        outcome: Option<&str>,
        killed: &[usize],
    ) -> Vec<String> {
        let seen =
            ClientCall { server: 0, tool: "echo_001".into(), end: end.clone(), microseconds: 1 };
        let row = |number: usize, outcome: &str| RecordRow {
            id: number.to_string(),
            server: "s000".to_owned(),
            target: "echo_001".to_owned(),
            outcome: Some(outcome.to_owned()),
            call: format!("0-{number}"),
        };
        let rows = outcome.map(|outcome| (0..count).map(|number| row(number, outcome)).collect());
        let mut all = accounts(vec![seen; count], rows.unwrap_or_default(), &[]);
        all.killed = killed.iter().copied().collect();
        compare(&all).shown
    }

    #[test]
    fn accounts_that_agree_about_failures_only_are_a_fault() {
        let lost = "unknown";
        let told_unknown = told("unknown");
        assert_eq!(check_many(4, &told_unknown, Some(lost), &[0]), [""; 0]);
        let expected = ["40 of 40 calls were lost"];
        assert_eq!(check_many(40, &told_unknown, Some(lost), &[0]), expected);
        let expected = ["call 0-0 (0): `unknown`, though s000 was not killed"];
        assert_eq!(check_many(1, &told_unknown, Some(lost), &[1]), expected);
        let expected = ["call 0-0 (0): `not_sent`, though s000 was not killed"];
        assert_eq!(check_many(1, &told("not_sent"), Some("not_sent"), &[]), expected);
        assert_eq!(check_many(1, &ClientEnd::GivenUp, Some("unknown"), &[]), [""; 0]);
    }

    #[test]
    fn many_calls_that_were_given_up_and_never_heard_of_are_a_fault() {
        assert_eq!(check_many(5, &ClientEnd::GivenUp, None, &[]), [""; 0]);
        let expected = ["40 of 40 calls that were given up are not recorded"];
        assert_eq!(check_many(40, &ClientEnd::GivenUp, None, &[]), expected);
    }
}
