//! Progress of a call as a bar or a spinner, and a spinner for each starting server.

use std::collections::BTreeMap;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Deserialize;
use switchboard_catalog::ServerStatus;
use switchboard_host::Host;
use switchboard_text::escape_line;
use switchboard_wire::Json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::printer::Printer;

/// Shows progress reports until the sender is dropped.
pub fn show_progress(printer: &Printer, what: &str) -> (mpsc::Sender<Json>, ProgressBar) {
    let (sender, mut reports) = mpsc::channel::<Json>(64);
    let bar = spinner(printer, what);
    let shown = bar.clone();
    tokio::spawn(async move {
        while let Some(report) = reports.recv().await {
            draw(&shown, &report);
        }
    });
    (sender, bar)
}

/// Shows a spinner with a message, if the terminal can be animated.
pub fn spinner(printer: &Printer, what: &str) -> ProgressBar {
    let bar = if printer.can_animate() {
        ProgressBar::new_spinner()
    } else {
        ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden())
    };
    bar.set_message(escape_line(what).into_owned());
    bar.enable_steady_tick(Duration::from_millis(100));
    printer.track_bar(&bar);
    bar
}

#[derive(Deserialize)]
struct ProgressReport {
    progress: f64,
    total: Option<f64>,
    message: Option<String>,
}

fn draw(bar: &ProgressBar, report: &Json) {
    let Ok(ProgressReport { progress, total, message }) = report.read() else { return };
    if let Some(total) = total.filter(|total| *total > 0.0)
        && let Ok(style) = ProgressStyle::with_template("{spinner} [{bar:30}] {percent}% {msg}")
    {
        bar.set_style(style);
        // In thousandths, so that fractions of a step are visible.
        bar.set_length(1_000);
        bar.set_position(thousandths(progress / total));
    }
    if let Some(message) = message {
        bar.set_message(escape_line(&message).into_owned());
    }
}

/// Returns progress as one line: a bar if the total is known, otherwise the message or the number.
pub fn progress_text(progress: f64, total: Option<f64>, message: Option<&str>) -> String {
    let message = message.map(|text| escape_line(text).into_owned());
    match (total.filter(|total| *total > 0.0), message) {
        (Some(total), message) => {
            let share = thousandths(progress / total);
            let full = usize::try_from(share / 50).unwrap_or(0);
            let bar = format!("[{:<20}] {} %", "#".repeat(full), share / 10);
            message.map_or_else(|| bar.clone(), |message| format!("{bar} {message}"))
        }
        (None, Some(message)) => message,
        (None, None) => progress.to_string(),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the value is clamped to a range that fits"
)]
fn thousandths(fraction: f64) -> u64 {
    (fraction * 1_000.0).clamp(0.0, 1_000.0) as u64
}

/// The spinners of starting servers, until they are finished.
pub struct StartSpinners {
    done: CancellationToken,
    bars: MultiProgress,
}

impl StartSpinners {
    /// Shows a spinner for each starting server, if the terminal can be animated.
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

    /// Removes the spinners from the screen.
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
    // Servers that start quickly need no spinner.
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

#[cfg(test)]
mod tests {
    use super::progress_text;

    #[test]
    fn a_known_whole_is_a_bar_and_words_stand_alone_without_it() {
        for (progress, total, message, expected) in [
            (1.0, Some(2.0), None, "[##########          ] 50 %"),
            (2.0, Some(2.0), Some("all"), "[####################] 100 % all"),
            (9.0, Some(2.0), None, "[####################] 100 %"),
            (-1.0, Some(2.0), None, "[                    ] 0 %"),
            (3.0, Some(0.0), None, "3"),
            (3.0, None, Some("Gathering\u{1b}[2J"), "Gathering\\e[2J"),
            (3.5, None, None, "3.5"),
        ] {
            assert_eq!(progress_text(progress, total, message), expected);
        }
    }
}
