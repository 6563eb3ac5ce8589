//! One fault in one server, and the expected outcome of a call that meets it, in both eras.

use std::time::Duration;

use switchboard_host::{OutcomeKind, Record};

use crate::stage::{Play, Stage, words};

/// A call that meets a fault. The call is the tool `write`, whose effects can be counted.
pub(crate) struct Case<'a> {
    /// The fault and its flags.
    pub(crate) fault: &'a [&'a str],
    pub(crate) kind: OutcomeKind,
    pub(crate) reason: Option<&'a str>,
    /// How often the tool ran.
    pub(crate) effects: usize,
    /// How often the call was sent.
    pub(crate) attempts: u32,
    pub(crate) timeout_seconds: u64,
    /// Time limit for the end of the call.
    pub(crate) within: Duration,
}

/// A call that is answered normally, well within its limits.
pub(crate) const ANSWERED: Case<'_> = Case {
    fault: &[],
    kind: OutcomeKind::Ok,
    reason: None,
    effects: 1,
    attempts: 1,
    timeout_seconds: 20,
    within: Duration::from_secs(5),
};

/// A call that was sent and whose outcome is unknown.
pub(crate) const UNKNOWN: Case<'_> =
    Case { kind: OutcomeKind::Unknown, reason: Some("may_have_executed"), ..ANSWERED };

/// A call without an answer; the caller gets the timeout within a second of the deadline.
pub(crate) const TIMED_OUT: Case<'_> = Case {
    kind: OutcomeKind::Unknown,
    reason: Some("timeout"),
    timeout_seconds: 1,
    within: Duration::from_secs(2),
    ..ANSWERED
};

/// A call that the server rejected before it ran.
pub(crate) const REFUSED: Case<'_> = Case { kind: OutcomeKind::Refused, effects: 0, ..ANSWERED };

impl Case<'_> {
    /// Meets the fault over stdio; the next call must succeed.
    pub(crate) async fn over_stdio(&self) -> [Record; 2] {
        let (legacy, modern) =
            tokio::join!(self.in_stdio_era("legacy", false), self.in_stdio_era("modern", false));
        [legacy, modern]
    }

    /// Meets the fault over stdio, with the keeper between host and server.
    pub(crate) async fn over_kept_stdio(&self) -> Record {
        self.in_stdio_era("modern", true).await
    }

    async fn in_stdio_era(&self, era: &str, kept: bool) -> Record {
        let flags = [self.fault, &["--era", era]].concat();
        let stage = Stage::new().flaky(&flags, self.timeout_seconds);
        let stage = if kept { stage.kept() } else { stage };
        let play = stage.ready().await;
        self.meet(play).await
    }

    /// Meets the fault over HTTP; the next call must succeed.
    pub(crate) async fn over_http(&self) -> [Record; 2] {
        let (legacy, modern) = tokio::join!(self.in_http_era("legacy"), self.in_http_era("modern"));
        [legacy, modern]
    }

    pub(crate) async fn in_http_era(&self, era: &str) -> Record {
        let flags = [&["flaky", "--era", era, "--fault"], self.fault].concat();
        let (stage, _fixture) = Stage::new().web(&flags, self.timeout_seconds);
        self.meet(stage.ready().await).await
    }

    async fn meet(&self, play: Play) -> Record {
        let record = play.write("struck").await;
        assert_eq!(words(&record), (self.kind, self.reason), "{record:?}");
        assert!(record.duration < self.within, "it took {:?}", record.duration);
        assert_eq!(play.effects("struck"), self.effects, "effects of {record:?}");
        assert_eq!(play.full(&record).await.attempts, self.attempts, "attempts of {record:?}");
        let next = play.write("next").await;
        assert_eq!((words(&next), play.effects("next")), ((OutcomeKind::Ok, None), 1), "{next:?}");
        assert_eq!(play.effects("struck"), self.effects, "it ran again behind our back");
        play.stop().await;
        record
    }
}
