//! Selects who answers the questions of a host, and how long a question waits.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use switchboard_host::{Asker, FirstUseAsks, NobodyThere, Reviewer};
use switchboard_trust::Presence;
use tokio_util::sync::CancellationToken;

use crate::ask::TerminalReviewer;
use crate::asker::{DecliningAsker, TerminalAsker};
use crate::desk::ChatReviewer;
use crate::elsewhere::ElsewhereReviewer;
use crate::printer::Printer;

const MAX_WAIT: Duration = Duration::from_secs(7 * 86_400);

/// How long a question waits for an answer from another face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewWait {
    /// The default of the settings.
    Usual,
    For(Duration),
}

impl FromStr for ReviewWait {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "usual" {
            return Ok(Self::Usual);
        }
        let wrong = || format!("`{text}` is not a duration: write it as 90s, 10m or 2h");
        let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
        let number: u64 = digits.parse().map_err(|_| wrong())?;
        let unit = match text.strip_prefix(digits) {
            Some("" | "s") => 1,
            Some("m") => 60,
            Some("h") => 3_600,
            Some("d") => 86_400,
            _ => return Err(wrong()),
        };
        let time = Duration::from_secs(number.saturating_mul(unit));
        if time.is_zero() || time > MAX_WAIT {
            return Err("it must be between a second and a week".to_owned());
        }
        Ok(Self::For(time))
    }
}

/// The reviewers and askers of a host.
pub struct People {
    pub reviewer: Arc<dyn Reviewer>,
    pub asker: Arc<dyn Asker>,
    /// How long a question waits, if it differs from the settings.
    pub limit: Option<Duration>,
    /// Whether there are questions about servers without approval.
    pub first_use: FirstUseAsks,
    /// Whether a person is present who can inspect a new server before its first use.
    pub presence: Presence,
}

impl People {
    /// Creates the people for a person at this terminal, which nothing else may read from.
    pub fn at_terminal(printer: &Printer, stop: &CancellationToken) -> Self {
        Self {
            reviewer: Arc::new(TerminalReviewer { stop: stop.clone() }),
            asker: Arc::new(TerminalAsker { printer: printer.clone() }),
            limit: None,
            first_use: FirstUseAsks::Nobody,
            presence: Presence::Person,
        }
    }

    /// Creates the people for a person who answers the questions of a desk.
    pub fn at_desk(desk: &ChatReviewer) -> Self {
        Self {
            reviewer: Arc::new(desk.clone()),
            asker: Arc::new(desk.clone()),
            limit: None,
            first_use: FirstUseAsks::InQueue,
            presence: Presence::Person,
        }
    }

    /// Creates the people for runs without a person: every question is declined at once.
    pub fn nobody(printer: &Printer) -> Self {
        Self {
            reviewer: Arc::new(NobodyThere),
            asker: Arc::new(DecliningAsker { printer: printer.clone() }),
            limit: None,
            first_use: FirstUseAsks::Nobody,
            presence: Presence::Nobody,
        }
    }

    /// Creates the people for runs whose questions are answered at another face.
    pub fn elsewhere(printer: &Printer) -> Self {
        let elsewhere = ElsewhereReviewer { printer: printer.clone() };
        Self {
            reviewer: Arc::new(elsewhere.clone()),
            asker: Arc::new(elsewhere),
            limit: None,
            first_use: FirstUseAsks::InQueue,
            presence: Presence::Nobody,
        }
    }

    /// Declines every question, or leaves it to other faces if there is a wait.
    pub fn nobody_here(printer: &Printer, patience: Option<ReviewWait>) -> Self {
        match patience {
            Some(_) => Self::elsewhere(printer),
            None => Self::nobody(printer),
        }
    }

    /// Also asks other faces about servers without approval.
    #[must_use]
    pub const fn with_new_servers(mut self) -> Self {
        self.first_use = FirstUseAsks::InQueue;
        self
    }

    /// Limits how long questions wait.
    #[must_use]
    pub fn with_wait(mut self, patience: Option<ReviewWait>) -> Self {
        if let Some(ReviewWait::For(limit)) = patience {
            self.limit = Some(limit);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_number_and_a_unit() {
        let seconds = |seconds| Ok(ReviewWait::For(Duration::from_secs(seconds)));
        for (text, expected) in [
            ("usual", Ok(ReviewWait::Usual)),
            ("90", seconds(90)),
            ("90s", seconds(90)),
            ("10m", seconds(600)),
            ("2h", seconds(7_200)),
            ("7d", seconds(604_800)),
            ("8d", Err(())),
            ("0", Err(())),
            ("", Err(())),
            ("m", Err(())),
            ("1w", Err(())),
            ("1m30", Err(())),
            ("-1", Err(())),
        ] {
            assert_eq!(text.parse::<ReviewWait>().map_err(drop), expected, "{text}");
        }
    }
}
