//! Names that two servers come to use while `serve` runs: whoever runs it is told what is left out.

use std::collections::BTreeMap;

use switchboard_gateway::Collision;
use switchboard_terminal::Printer;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// As many names are told; of the others, how many there are.
const NAMED: usize = 5;

/// Tells of every name once, and again if it comes back; until it is told to `stop`.
pub(crate) async fn tell(
    printer: Printer,
    mut left_out: watch::Receiver<Vec<Collision>>,
    stop: CancellationToken,
) {
    let mut told = Vec::new();
    loop {
        let found = left_out.borrow_and_update().clone();
        for (message, hint) in news(&told, &found) {
            printer.warn(&message, Some(&hint));
        }
        told = found;
        if !matches!(stop.run_until_cancelled(left_out.changed()).await, Some(Ok(()))) {
            return;
        }
    }
}

/// What is to be said of those that were not told before, with hints.
fn news(told: &[Collision], found: &[Collision]) -> Vec<(String, String)> {
    let mut by_servers = BTreeMap::<(&str, &str), Vec<String>>::new();
    for one in found.iter().filter(|one| !told.contains(one)) {
        let names = by_servers.entry((&one.left_out, &one.kept)).or_default();
        names.push(format!("`{}`", one.name));
    }
    let told = by_servers.into_iter().map(|((left_out, kept), names)| {
        let (are, these) =
            if names.len() == 1 { ("is", "that name") } else { ("are", "these names") };
        let mut all = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
        if names.len() > NAMED {
            all = format!("{all} and {} more", names.len() - NAMED);
        }
        let message =
            format!("{all} of server `{left_out}` {are} left out, because `{kept}` has {these}");
        (message, format!("give `{left_out}` a `prefix` of its own"))
    });
    told.collect()
}

#[cfg(test)]
mod tests {
    use switchboard_gateway::Collision;

    use super::news;

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
            news(told, found).into_iter().map(|(message, _)| message).collect()
        };
        let of = |what: &str| format!("{what} left out, because `early` has ");
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
