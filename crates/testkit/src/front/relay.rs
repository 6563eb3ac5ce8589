//! Carries bytes between two ends through the weather of the moment.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::weather::{Dice, PieceFate, Weather};

/// As much as one packet carries.
const PIECE_BYTES: usize = 1_460;
/// Pieces that may be on their way in one direction; then the sender has to wait.
const MAX_PIECES_IN_FLIGHT: usize = 256;

/// Carries bytes one way until one end is closed, or the weather ends it.
pub(super) async fn carry(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    weather: Arc<Mutex<Weather>>,
    seed: u64,
) -> io::Result<()> {
    let (send, mut under_way) = mpsc::channel::<(Instant, Bytes)>(MAX_PIECES_IN_FLIGHT);
    let reading = async move {
        let mut dice = Dice(seed | 1);
        let mut last = Instant::now();
        let mut buffer = vec![0; PIECE_BYTES];
        loop {
            let count = from.read(&mut buffer).await?;
            let Some(piece) = buffer.get(..count).filter(|piece| !piece.is_empty()) else {
                return Ok(());
            };
            let now = *weather.lock().unwrap_or_else(PoisonError::into_inner);
            match now.fate(&mut dice) {
                PieceFate::Late(late) => {
                    // Nothing overtakes what is before it.
                    last = last.max(Instant::now() + late);
                    if send.send((last, Bytes::copy_from_slice(piece))).await.is_err() {
                        return Ok(());
                    }
                }
                PieceFate::Cut => return Err(io::ErrorKind::ConnectionReset.into()),
                // The sender believes that it was sent, as with a cable that is pulled out.
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
