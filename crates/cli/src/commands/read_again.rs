//! Files that are read again while `serve` runs: what is wrong with them, or gone, is told at once.

use std::collections::BTreeSet;

use switchboard_host::Host;
use switchboard_host::events::What;
use switchboard_terminal::Printer;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

/// Tells what is wrong with configuration, rules and hooks, once for as long as it stays so.
pub(crate) async fn tell_of_problems(printer: Printer, host: Host, stop: CancellationToken) {
    let mut events = host.events().watch_but_calls();
    // What was wrong at the start has been told.
    let config = host.config().load();
    let mut of_files: BTreeSet<String> = config.problems.iter().map(ToString::to_string).collect();
    drop(config);
    let mut of_hooks: BTreeSet<String> = host.hooks().problems().into_iter().collect();
    loop {
        let Some(event) = stop.run_until_cancelled(events.recv()).await else { return };
        let (known, problems) = match event {
            Ok(event) => match event.what {
                What::ConfigChanged { problems } => (&mut of_files, problems),
                What::HooksRead { problems } => (&mut of_hooks, problems),
                _ => continue,
            },
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
