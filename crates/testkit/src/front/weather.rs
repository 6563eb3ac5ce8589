//! Simulated network conditions: latency, jitter, loss, cut and stalled connections.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use fastrand::Rng;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

/// Network conditions. TCP retransmits lost packets in order, so the endpoints see a loss as a
/// pause, which also delays everything behind it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Weather {
    pub delay: Duration,
    pub jitter: Duration,
    /// Percentage of pieces that are lost and arrive after `again`, with everything behind them.
    pub lost_percent: u64,
    /// Delay before a lost piece is retransmitted.
    pub again: Duration,
    /// Number of pieces per 1,000 that reset their connection.
    pub cut_per_mille: u64,
    /// Drops all pieces silently; the connection stays open.
    pub stalled: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PieceFate {
    Late(Duration),
    Cut,
    Never,
}

impl Weather {
    pub(super) fn fate(&self, dice: &mut Rng) -> PieceFate {
        if self.stalled {
            return PieceFate::Never;
        }
        if dice.u64(..1_000) < self.cut_per_mille {
            return PieceFate::Cut;
        }
        let jitter = u64::try_from(self.jitter.as_micros()).unwrap_or(u64::MAX);
        let mut late = self.delay + Duration::from_micros(dice.u64(..jitter.max(1)));
        if dice.u64(..100) < self.lost_percent {
            late += self.again;
        }
        PieceFate::Late(late)
    }
}

/// Maximum length of a piece: the payload of one packet.
const PIECE_BYTES: usize = 1_460;
/// Maximum number of pieces in flight per direction; then the sender has to wait.
const MAX_PIECES_IN_FLIGHT: usize = 256;

/// Forwards bytes in one direction until an endpoint closes or the weather cuts the connection.
pub(super) async fn carry(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    weather: Arc<Mutex<Weather>>,
    seed: u64,
) -> io::Result<()> {
    let (send, mut under_way) = mpsc::channel::<(Instant, Bytes)>(MAX_PIECES_IN_FLIGHT);
    let reading = async move {
        let mut dice = Rng::with_seed(seed);
        let mut last = Instant::now();
        let mut buffer = vec![0; PIECE_BYTES];
        loop {
            let count = from.read(&mut buffer).await?;
            let Some(piece) = buffer.get(..count).filter(|piece| !piece.is_empty()) else {
                return Ok(());
            };
            let now = *weather.lock();
            match now.fate(&mut dice) {
                PieceFate::Late(late) => {
                    // TCP keeps the order: no piece arrives before an earlier one.
                    last = last.max(Instant::now() + late);
                    if send.send((last, Bytes::copy_from_slice(piece))).await.is_err() {
                        return Ok(());
                    }
                }
                PieceFate::Cut => return Err(io::ErrorKind::ConnectionReset.into()),
                // The sender's write succeeds, as with an unplugged cable.
                PieceFate::Never => {}
            }
        }
    };
    let writing = async move {
        while let Some((due, piece)) = under_way.recv().await {
            sleep_until(due).await;
            to.write_all(&piece).await?;
            to.flush().await?;
        }
        to.shutdown().await
    };
    tokio::try_join!(reading, writing).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_as_frequent_as_wanted_and_repeat_with_their_seed() {
        let ms = Duration::from_millis;
        let weather =
            Weather { delay: ms(10), lost_percent: 10, again: ms(200), ..Weather::default() };
        let run = || {
            let mut dice = Rng::with_seed(7);
            (0..10_000).map(|_| weather.fate(&mut dice)).collect::<Vec<_>>()
        };
        let fates = run();
        assert_eq!(fates, run());
        let lost = fates.iter().filter(|fate| **fate == PieceFate::Late(ms(210))).count();
        assert!((800..1_200).contains(&lost), "{lost} of 10,000");
        assert!(fates.iter().all(|fate| [ms(10), ms(210)].map(PieceFate::Late).contains(fate)));
        let stalled = Weather { stalled: true, ..weather };
        assert_eq!(stalled.fate(&mut Rng::with_seed(7)), PieceFate::Never);
    }
}
