//! Regression corpus: inputs that once caused failures, replayed on every run.

use std::path::Path;

use bytes::Bytes;
use tokio::io::AsyncWriteExt as _;

use crate::envelope::Message;
use crate::http::parse_events;
use crate::{WireLimits, stream};

fn corpus() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut inputs: Vec<(String, Vec<u8>)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.display().to_string(), std::fs::read(&path).unwrap()))
        .collect();
    inputs.sort();
    assert!(inputs.len() >= 8, "the corpus is missing");
    inputs
}

#[test]
fn no_kept_input_makes_a_reader_panic() {
    for (_, input) in corpus() {
        for line in input.split(|byte| *byte == b'\n') {
            Message::parse(&Bytes::copy_from_slice(line)).ok();
            Message::split_batch(&Bytes::copy_from_slice(line)).ok();
        }
        for size in [1, 7, 4_096] {
            parse_events(input.chunks(size));
        }
    }
}

#[tokio::test]
async fn no_kept_input_stops_a_connection_from_being_closed() {
    for (name, input) in corpus() {
        let (mut far, near) = tokio::io::duplex(1 << 20);
        let (from, to) = tokio::io::split(near);
        let (peer, _inbound) = stream::start_stream(from, to, WireLimits::default());
        far.write_all(&input).await.unwrap();
        drop(far);
        let reason =
            tokio::time::timeout(std::time::Duration::from_secs(10), peer.wait_until_closed())
                .await;
        assert!(reason.is_ok(), "{name}");
    }
}
