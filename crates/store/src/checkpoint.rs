//! How far the chain of seals has come, signed and kept beside the ledger: without it, a chain whose end was cut off would look whole.

use std::io::Write as _;
use std::path::Path;
use std::{fs, io};

use ring::hmac;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use switchboard_core::random_bytes;
use switchboard_files::{FileAccess, parent_folder, replace};

use crate::seal;
use crate::seal::{ChainHead, SealDigest};

#[derive(Debug, Serialize, Deserialize)]
struct CheckpointFile {
    seq: i64,
    call: i64,
    chain: String,
    signature: String,
}

/// What a checkpoint says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Checkpoint {
    Missing,
    /// It is not ours, or was changed.
    Forged,
    /// The chain had come this far.
    At {
        seq: i64,
        call: i64,
        chain: String,
    },
}

/// Signs that there is no seal yet, if there is none: a chain without a checkpoint has lost it.
pub(crate) fn sign_empty(ledger: &Path, connection: &Connection) -> io::Result<()> {
    let is_new = read(ledger) == Checkpoint::Missing
        && seal::chain_head(connection).map_err(io::Error::other)?.is_none();
    if is_new { sign(ledger, &ChainHead { seq: 0, call: 0, chain: [0; 32] }) } else { Ok(()) }
}

fn sign(ledger: &Path, head: &ChainHead) -> io::Result<()> {
    let chain = hex(&head.chain);
    let key = key(ledger)?;
    let signature = hex(hmac::sign(&key, &signed_message(head.seq, head.call, &chain)).as_ref());
    let text =
        serde_json::to_vec(&CheckpointFile { seq: head.seq, call: head.call, chain, signature })?;
    replace(&parent_folder(ledger).join("calls.seal"), &text, FileAccess::Owner)
}

/// Signs how far the chain has come. A chain that does not go on from what was signed before is not
/// signed: the older checkpoint is the proof that something is gone.
pub(crate) fn advance(ledger: &Path, connection: &Connection, head: &ChainHead) -> io::Result<()> {
    let goes_on = match read(ledger) {
        Checkpoint::Missing => !has_older(connection, head),
        Checkpoint::Forged => false,
        Checkpoint::At { seq, chain, .. } => {
            let then = if seq == 0 { Some([0; 32]) } else { chain_at(connection, seq) };
            seq < head.seq && then.is_some_and(|then| hex(&then) == chain)
        }
    };
    if !goes_on {
        return Ok(());
    }
    sign(ledger, head)?;
    let marked =
        connection.execute("INSERT OR IGNORE INTO counters (name, value) VALUES ('signed', 1)", []);
    marked.map(drop).map_err(io::Error::other)
}

/// Whether the chain was there before the process that signs it, so that a checkpoint was lost.
fn has_older(connection: &Connection, head: &ChainHead) -> bool {
    let known =
        connection.query_row("SELECT value FROM counters WHERE name = 'signed'", [], |row| {
            row.get::<_, i64>(0)
        });
    head.seq > 1 && known.is_ok()
}

fn chain_at(connection: &Connection, seq: i64) -> Option<SealDigest> {
    connection.query_row("SELECT chain FROM seals WHERE seq = ?1", [seq], |row| row.get(0)).ok()
}

/// How far the chain had come.
pub(crate) fn read(ledger: &Path) -> Checkpoint {
    let text = match fs::read(parent_folder(ledger).join("calls.seal")) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Checkpoint::Missing,
        Err(_) => return Checkpoint::Forged,
    };
    let (Ok(found), Ok(key)) =
        (serde_json::from_slice::<CheckpointFile>(&text), existing_key(ledger))
    else {
        return Checkpoint::Forged;
    };
    let message = signed_message(found.seq, found.call, &found.chain);
    match unhex(&found.signature).map(|tag| hmac::verify(&key, &message, &tag)) {
        Some(Ok(())) => Checkpoint::At { seq: found.seq, call: found.call, chain: found.chain },
        _ => Checkpoint::Forged,
    }
}

fn signed_message(seq: i64, call: i64, chain: &str) -> Vec<u8> {
    format!("switchboard checkpoint 1\n{seq}\n{call}\n{chain}").into_bytes()
}

/// The key of this ledger, made when it is first needed.
pub(crate) fn key(ledger: &Path) -> io::Result<hmac::Key> {
    let file = parent_folder(ledger).join("seal.key");
    if !file.exists() {
        let none = || io::Error::other("no random numbers");
        let bytes = random_bytes::<32>().ok_or_else(none)?;
        let mut made = tempfile::NamedTempFile::new_in(parent_folder(&file))?;
        made.write_all(hex(&bytes).as_bytes())?;
        // Whoever was faster has made the key.
        match made.persist_noclobber(&file) {
            Ok(_) => {}
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error.error),
        }
    }
    existing_key(ledger)
}

pub(crate) fn existing_key(ledger: &Path) -> io::Result<hmac::Key> {
    let text = fs::read_to_string(parent_folder(ledger).join("seal.key"))?;
    let bytes = unhex(text.trim()).filter(|bytes| bytes.len() == 32);
    let bytes = bytes.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))?;
    Ok(hmac::Key::new(hmac::HMAC_SHA256, &bytes))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u32>> = text.chars().map(|digit| digit.to_digit(16)).collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    let byte = |pair: &[u32]| match pair {
        [high, low] => u8::try_from(high * 16 + low).ok(),
        _ => None,
    };
    digits.chunks(2).map(byte).collect()
}
