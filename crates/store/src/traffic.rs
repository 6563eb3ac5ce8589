//! Traffic of recent minutes: calls, failures and durations per minute.

use std::time::Duration;

use jiff::Timestamp;
use rusqlite::Connection;
use switchboard_core::OutcomeKind;

use crate::error::LedgerError;
use crate::ledger::Ledger;
use crate::reader::LedgerReader;
use crate::rows::read_size;

/// Maximum number of recent calls from which failures and durations are computed; bounds the time
/// of the query on a busy ledger.
const MAX_SAMPLED_CALLS: u32 = 10_000;

const MINUTE_MICROS: i64 = 60_000_000;

/// The calls of recent minutes, per minute and in total.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Traffic {
    /// One entry per minute, oldest first, including minutes without calls.
    pub minutes: Vec<Minute>,
    pub whole: Minute,
}

/// Statistics of the calls in a period.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Minute {
    /// Number of calls that were opened.
    pub calls: u64,
    /// Number of sampled calls that have ended.
    pub ended: u64,
    /// Number of sampled calls that failed.
    pub failed: u64,
    pub median: Option<Duration>,
    /// 99th percentile of the duration.
    pub slowest: Option<Duration>,
}

impl Ledger {
    /// Returns the traffic of the last `minutes`, which is empty if the ledger is off.
    pub async fn traffic(&self, minutes: u32) -> Result<Traffic, LedgerError> {
        match self.reader().await? {
            Some(reader) => reader.traffic(minutes).await,
            None => Ok(Traffic::default()),
        }
    }
}

impl LedgerReader {
    /// Returns the traffic of the last `minutes`.
    pub async fn traffic(&self, minutes: u32) -> Result<Traffic, LedgerError> {
        let now = Timestamp::now().as_microsecond();
        self.query(move |connection| traffic(connection, now, minutes)).await
    }
}

fn traffic(connection: &Connection, now: i64, minutes: u32) -> rusqlite::Result<Traffic> {
    let newest = now.div_euclid(MINUTE_MICROS);
    let oldest = newest - i64::from(minutes) + 1;
    let since = oldest * MINUTE_MICROS;
    let mut buckets: Vec<MinuteBucket> = (0..minutes).map(|_| MinuteBucket::default()).collect();
    let mut whole = MinuteBucket::default();
    let place = |minute: i64| usize::try_from(minute - oldest).unwrap_or(usize::MAX);
    // Counting per minute uses only the index, without a sort.
    let mut counts = connection.prepare(
        "SELECT count(*) AS calls FROM calls WHERE created_at >= ?1 AND created_at < ?2",
    )?;
    for (bucket, minute) in buckets.iter_mut().zip(oldest..) {
        let span = (minute * MINUTE_MICROS, (minute + 1) * MINUTE_MICROS);
        bucket.calls = counts.query_row(span, |row| read_size(row, "calls"))?.unwrap_or_default();
        whole.calls += bucket.calls;
    }
    let mut newest = connection.prepare(
        "SELECT created_at / 60000000 AS minute, outcome, duration_us FROM calls \
         WHERE created_at >= ?1 ORDER BY created_at DESC LIMIT ?2",
    )?;
    let mut rows = newest.query((since, MAX_SAMPLED_CALLS))?;
    while let Some(row) = rows.next()? {
        // Calls in flight have no duration yet.
        let Some(word) = row.get::<_, Option<String>>("outcome")? else { continue };
        let ended = EndedCall { failed: is_failure(&word), micros: read_size(row, "duration_us")? };
        whole.add(&ended);
        if let Some(bucket) = buckets.get_mut(place(row.get("minute")?)) {
            bucket.add(&ended);
        }
    }
    let minutes = buckets.into_iter().map(MinuteBucket::finish).collect();
    Ok(Traffic { minutes, whole: whole.finish() })
}

fn is_failure(word: &str) -> bool {
    // A call that a rule or a person stopped worked as intended.
    let decided =
        [OutcomeKind::Ok, OutcomeKind::Denied, OutcomeKind::Rejected, OutcomeKind::Cancelled];
    !decided.iter().any(|kind| kind.as_str() == word)
}

struct EndedCall {
    failed: bool,
    micros: Option<u64>,
}

#[derive(Default)]
struct MinuteBucket {
    calls: u64,
    ended: u64,
    failed: u64,
    micros: Vec<u64>,
}

impl MinuteBucket {
    fn add(&mut self, ended: &EndedCall) {
        self.ended += 1;
        self.failed += u64::from(ended.failed);
        self.micros.extend(ended.micros);
    }

    fn finish(mut self) -> Minute {
        self.micros.sort_unstable();
        let at = |percent: usize| {
            let place = (self.micros.len() * percent).div_ceil(100).saturating_sub(1);
            self.micros.get(place).copied().map(Duration::from_micros)
        };
        let median = at(50);
        let slowest = at(99);
        let Self { calls, ended, failed, .. } = self;
        Minute { calls, ended, failed, median, slowest }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_by_minute_and_their_durations_ordered() {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch(
                "CREATE TABLE calls (id INTEGER PRIMARY KEY, created_at INTEGER, outcome TEXT, \
                 duration_us INTEGER)",
            )
            .unwrap();
        let now = 100 * MINUTE_MICROS + 5;
        for (minutes_ago, outcome, micros) in [
            (0, Some("ok"), Some(10)),
            (0, Some("failed"), Some(30)),
            (0, None, None),
            (1, Some("rejected"), Some(20)),
            (3, Some("ok"), Some(1)),
        ] {
            connection
                .execute(
                    "INSERT INTO calls (created_at, outcome, duration_us) VALUES (?1, ?2, ?3)",
                    (now - minutes_ago * MINUTE_MICROS, outcome, micros),
                )
                .unwrap();
        }
        let of = |calls, ended, failed, median: Option<u64>, slowest: Option<u64>| Minute {
            calls,
            ended,
            failed,
            median: median.map(Duration::from_micros),
            slowest: slowest.map(Duration::from_micros),
        };
        let expected = Traffic {
            minutes: vec![
                Minute::default(),
                of(1, 1, 0, Some(20), Some(20)),
                of(3, 2, 1, Some(10), Some(30)),
            ],
            whole: of(4, 3, 1, Some(20), Some(30)),
        };
        assert_eq!(traffic(&connection, now, 3).unwrap(), expected);
    }
}
