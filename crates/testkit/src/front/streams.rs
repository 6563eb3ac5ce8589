//! The frames of HTTP/2 by which a server turns a request away, written by hand.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// What a client sends before its first frame.
const PREFACE_BYTES: usize = 24;
const FRAME_HEAD_BYTES: usize = 9;

const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;

const MAX_CONCURRENT_STREAMS: u16 = 3;
const INTERNAL_ERROR: u32 = 2;
const REFUSED_STREAM: u32 = 7;

/// How a connection treats the first request on it; for the next one it says farewell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Farewell {
    /// The stream is refused: it was not looked at.
    Refused,
    /// The stream ends with an error in the server: nobody knows.
    Broken,
    /// The server leaves, and says that it looked at no stream.
    Leaving,
}

/// Treats one connection of a client, whose requests nobody looks at.
pub(super) async fn turn_away<S>(mut stream: S, farewell: Farewell) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut preface = [0; PREFACE_BYTES];
    stream.read_exact(&mut preface).await?;
    stream.write_all(&frame(SETTINGS, 0, &[])).await?;
    stream.flush().await?;
    let mut asked = 0;
    loop {
        let (kind, id) = read_frame(&mut stream).await?;
        if kind != HEADERS {
            continue;
        }
        asked += 1;
        let answer = match farewell {
            Farewell::Refused if asked == 1 => frame(RST_STREAM, id, &REFUSED_STREAM.to_be_bytes()),
            Farewell::Broken if asked == 1 => frame(RST_STREAM, id, &INTERNAL_ERROR.to_be_bytes()),
            Farewell::Refused | Farewell::Broken | Farewell::Leaving => {
                // The number of the last stream that was looked at, and that nothing is wrong.
                let last = if farewell == Farewell::Broken { id.saturating_sub(2) } else { 0 };
                let payload = [last.to_be_bytes(), 0_u32.to_be_bytes()].concat();
                frame(GOAWAY, 0, &payload)
            }
        };
        stream.write_all(&answer).await?;
        stream.flush().await?;
        if answer.get(3) == Some(&GOAWAY) {
            return stream.shutdown().await;
        }
    }
}

/// Passes the first frame of a server on, which says how many streams it takes: so many.
pub(super) async fn narrow(
    server: &mut (impl AsyncRead + Unpin),
    client: &mut (impl AsyncWrite + Unpin),
    streams: u32,
) -> io::Result<()> {
    let mut head = [0; FRAME_HEAD_BYTES];
    server.read_exact(&mut head).await?;
    let mut payload = vec![0; frame_length(&head)];
    server.read_exact(&mut payload).await?;
    let wanted = MAX_CONCURRENT_STREAMS.to_be_bytes();
    let mut settings: Vec<u8> = payload
        .chunks(6)
        .filter(|setting| !setting.starts_with(&wanted))
        .flatten()
        .copied()
        .collect();
    settings.extend(wanted);
    settings.extend(streams.to_be_bytes());
    client.write_all(&frame(SETTINGS, 0, &settings)).await?;
    client.flush().await
}

async fn read_frame(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<(u8, u32)> {
    let mut head = [0; FRAME_HEAD_BYTES];
    stream.read_exact(&mut head).await?;
    let mut payload = vec![0; frame_length(&head)];
    stream.read_exact(&mut payload).await?;
    let [_, _, _, kind, _, id @ ..] = head;
    Ok((kind, u32::from_be_bytes(id) & 0x7fff_ffff))
}

fn frame_length([a, b, c, ..]: &[u8; FRAME_HEAD_BYTES]) -> usize {
    (usize::from(*a) << 16) | (usize::from(*b) << 8) | usize::from(*c)
}

fn frame(kind: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap_or_default().to_be_bytes();
    let mut bytes = length.iter().skip(1).copied().collect::<Vec<u8>>();
    bytes.extend([kind, 0]);
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}
