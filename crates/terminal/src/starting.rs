//! A spinner for each server that is starting.

use std::collections::BTreeMap;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use switchboard_catalog::ServerStatus;
use switchboard_host::Host;
use switchboard_text::escape_line;
use tokio_util::sync::CancellationToken;

use crate::printer::Printer;

/// The spinners, until they are finished.
pub struct StartSpinners {
    done: CancellationToken,
    bars: MultiProgress,
}

impl StartSpinners {
    /// Shows a spinner per starting server, where a person looks.
    pub fn show(printer: &Printer, host: &Host) -> Self {
        let starting = Self { done: CancellationToken::new(), bars: MultiProgress::new() };
        if printer.can_animate() {
            let bars = starting.bars.clone();
            let host = host.clone();
            let done = starting.done.clone();
            tokio::spawn(async move { done.run_until_cancelled(follow(&bars, &host)).await });
        }
        starting
    }

    /// Takes the spinners away.
    pub fn finish(self) {
        self.done.cancel();
        // Spinners that cannot be cleared stay on the screen, without further effect.
        _ = self.bars.clear();
    }
}

async fn follow(bars: &MultiProgress, host: &Host) {
    let mut changes = host.fleet().changes();
    let mut fleet = changes.load();
    let mut shown: BTreeMap<String, ProgressBar> = BTreeMap::new();
    // Servers that come up at once need no picture.
    tokio::time::sleep(Duration::from_millis(150)).await;
    loop {
        for (id, server) in &fleet.servers {
            let name = id.to_string();
            match (&server.status, shown.get(&name)) {
                (ServerStatus::Starting, None) => {
                    let bar = bars.add(ProgressBar::new_spinner());
                    bar.set_style(ProgressStyle::default_spinner());
                    bar.set_message(format!("starting {}", escape_line(&name)));
                    bar.enable_steady_tick(Duration::from_millis(100));
                    shown.insert(name, bar);
                }
                (ServerStatus::Starting, Some(_)) | (_, None) => {}
                (_, Some(bar)) => bar.finish_and_clear(),
            }
        }
        fleet = changes.changed().await;
    }
}
