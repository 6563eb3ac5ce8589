//! Hand-written HTTP/2 frames by which a server refuses a request.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// Length of the connection preface, which a client sends before its first frame.
const PREFACE_BYTES: usize = 24;
const FRAME_HEAD_BYTES: usize = 9;

const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;

const MAX_CONCURRENT_STREAMS: u16 = 3;
const INTERNAL_ERROR: u32 = 2;
const REFUSED_STREAM: u32 = 7;

/// How a connection refuses its first request. It answers any further request with GOAWAY.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Farewell {
    /// `RST_STREAM` with `REFUSED_STREAM`: the request was not processed.
    Refused,
    /// `RST_STREAM` with `INTERNAL_ERROR`: the request may have been processed.
    Broken,
    /// GOAWAY that reports that no stream was processed.
    Leaving,
}

/// Serves one connection and refuses its requests without processing them.
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
                // The last stream that may have been processed, and the error code `NO_ERROR`.
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

/// Forwards the first frame of a server, SETTINGS, with `streams` as its limit of streams.
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
    // Each setting is a 16-bit identifier and a 32-bit value.
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
