//! Warnings while `serve` runs: name collisions, and problems in reloaded files.

use std::collections::{BTreeMap, BTreeSet};

use switchboard_core::EventKind;
use switchboard_gateway::Collision;
use switchboard_host::Host;
use switchboard_terminal::Printer;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Maximum number of names in a warning; the rest are counted.
const MAX_NAMES: usize = 5;

/// Warns of each name collision once, and again if it reappears, until `stop`.
pub(crate) async fn tell_of_collisions(
    printer: Printer,
    mut left_out: watch::Receiver<Vec<Collision>>,
    stop: CancellationToken,
) {
    let mut told = Vec::new();
    loop {
        let found = left_out.borrow_and_update().clone();
        for (message, hint) in new_collisions(&told, &found) {
            printer.warn(&message, Some(&hint));
        }
        told = found;
        if !matches!(stop.run_until_cancelled(left_out.changed()).await, Some(Ok(()))) {
            return;
        }
    }
}

fn new_collisions(told: &[Collision], found: &[Collision]) -> Vec<(String, String)> {
    let mut by_servers = BTreeMap::<(&str, &str), Vec<String>>::new();
    for one in found.iter().filter(|one| !told.contains(one)) {
        let names = by_servers.entry((&one.left_out, &one.kept)).or_default();
        names.push(format!("`{}`", one.name));
    }
    let told = by_servers.into_iter().map(|((left_out, kept), names)| {
        let (are, these) =
            if names.len() == 1 { ("is", "that name") } else { ("are", "these names") };
        let mut all = names.iter().take(MAX_NAMES).cloned().collect::<Vec<_>>().join(", ");
        if names.len() > MAX_NAMES {
            all = format!("{all} and {} more", names.len() - MAX_NAMES);
        }
        let message =
            format!("{all} of server `{left_out}` {are} hidden, because `{kept}` has {these}");
        (message, format!("set a `prefix` for `{left_out}`"))
    });
    told.collect()
}

/// Warns of each problem in configuration, rules and hooks once while it lasts.
pub(crate) async fn report_problems(printer: Printer, host: Host, stop: CancellationToken) {
    let mut events = host.events().watch_without_calls();
    // Problems at startup have been reported already.
    let config = host.config().load();
    let mut of_files: BTreeSet<String> = config.problems.iter().map(ToString::to_string).collect();
    drop(config);
    let mut of_hooks: BTreeSet<String> = host.hooks().problems().into_iter().collect();
    loop {
        let Some(event) = stop.run_until_cancelled(events.recv()).await else { return };
        let (known, problems) = match event {
            Ok(event) => match event.what {
                EventKind::ConfigChanged { problems } => (&mut of_files, problems),
                EventKind::HooksRead { problems } => (&mut of_hooks, problems),
                _ => continue,
            },
            // Missing an event is harmless: the next one carries all problems.
            Err(RecvError::Lagged(_)) => continue,
            Err(RecvError::Closed) => return,
        };
        let problems: BTreeSet<String> = problems.into_iter().collect();
        for new in problems.difference(known) {
            printer.warn(new, None);
        }
        *known = problems;
    }
}

#[cfg(test)]
mod tests {
    use switchboard_gateway::Collision;

    use super::new_collisions;

    #[test]
    fn what_is_left_out_is_told_by_server_and_once() {
        let collision = |name: &str, left_out: &str| Collision {
            name: name.to_owned(),
            kept: "early".to_owned(),
            left_out: left_out.to_owned(),
        };
        let known = [collision("a", "late")];
        let many = ["a", "b", "c", "d", "e", "f", "g"].map(|name| collision(name, "late"));
        let other = [collision("a", "other")];
        let said = |told: &[Collision], found: &[Collision]| -> Vec<String> {
            new_collisions(told, found).into_iter().map(|(message, _)| message).collect()
        };
        let of = |what: &str| format!("{what} hidden, because `early` has ");
        assert_eq!(said(&[], &known), [of("`a` of server `late` is") + "that name"]);
        assert_eq!(said(&known, &known), [""; 0]);
        assert_eq!(
            said(&known, &[&many[..], &other].concat()),
            [
                of("`b`, `c`, `d`, `e`, `f` and 1 more of server `late` are") + "these names",
                of("`a` of server `other` is") + "that name",
            ]
        );
    }
}
