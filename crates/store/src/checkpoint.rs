//! The signed head of the seal chain, stored next to the ledger. Without it, a chain whose end was
//! removed would look complete.

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

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Checkpoint {
    Missing,
    /// Written by another program, or modified.
    Forged,
    /// The chain had reached this seal.
    At {
        seq: i64,
        call: i64,
        chain: String,
    },
}

/// Signs an empty chain before the first seal, so that a chain without a checkpoint has lost it.
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

/// Signs the head of the chain. A chain that does not extend the signed head is not signed, because
/// the older checkpoint proves that seals are missing.
pub(crate) fn advance(ledger: &Path, connection: &Connection, head: &ChainHead) -> io::Result<()> {
    let extends = match read(ledger) {
        Checkpoint::Missing => !has_older(connection, head),
        Checkpoint::Forged => false,
        Checkpoint::At { seq, chain, .. } => {
            // An empty chain is signed as position 0 with a digest of zeros.
            let then = if seq == 0 { Some([0; 32]) } else { chain_at(connection, seq) };
            seq < head.seq && then.is_some_and(|then| hex(&then) == chain)
        }
    };
    if !extends {
        return Ok(());
    }
    sign(ledger, head)?;
    let marked =
        connection.execute("INSERT OR IGNORE INTO counters (name, value) VALUES ('signed', 1)", []);
    marked.map(drop).map_err(io::Error::other)
}

/// Returns whether a checkpoint was signed before, so that a missing one was removed.
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

pub(crate) fn read(ledger: &Path) -> Checkpoint {
    let text = match fs::read(parent_folder(ledger).join("calls.seal")) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Checkpoint::Missing,
        // Fail closed: an attacker may have made the file unreadable.
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

/// Returns the key of this ledger; creates it on first use.
pub(crate) fn key(ledger: &Path) -> io::Result<hmac::Key> {
    let file = parent_folder(ledger).join("seal.key");
    if !file.exists() {
        let none = || io::Error::other("no random numbers");
        let bytes = random_bytes::<32>().ok_or_else(none)?;
        let mut made = tempfile::NamedTempFile::new_in(parent_folder(&file))?;
        made.write_all(hex(&bytes).as_bytes())?;
        // If another process created the key first, that key is used.
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
