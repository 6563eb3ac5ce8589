//! The signed position of the audit log, stored next to it. Without it, rows that were removed from
//! the end would not be missed.

use std::path::Path;

use ring::hmac;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use switchboard_files::{FileAccess, replace};

use crate::checkpoint::{existing_key, hex, key, unhex};

/// Format that introduced the mark. The row shows that a mark existed, so its removal is detected.
pub(crate) const FORMAT: &str = "
    CREATE TABLE marked (once INTEGER PRIMARY KEY CHECK (once = 1)) STRICT;
";

#[derive(Debug, Serialize, Deserialize)]
struct AuditMarkFile {
    seq: i64,
    chain: String,
    signature: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AuditMark {
    Missing,
    /// Written by another program, or modified.
    Forged,
    /// The log had reached this row.
    At {
        seq: i64,
        chain: String,
    },
}

pub(crate) fn read(path: &Path) -> AuditMark {
    let text = match std::fs::read(mark_path(path)) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return AuditMark::Missing,
        // Fail closed: an attacker may have made the file unreadable.
        Err(_) => return AuditMark::Forged,
    };
    let (Ok(found), Ok(key)) = (serde_json::from_slice::<AuditMarkFile>(&text), existing_key(path))
    else {
        return AuditMark::Forged;
    };
    let signature = unhex(&found.signature);
    let verified = signature
        .map(|tag| hmac::verify(&key, &signed_message(found.seq, &found.chain), &tag).is_ok());
    if verified == Some(true) {
        AuditMark::At { seq: found.seq, chain: found.chain }
    } else {
        AuditMark::Forged
    }
}

/// Signs the position of the last row. A log that does not extend the signed position is not
/// signed, because the older mark proves that rows are missing. The caller holds the lock.
pub(crate) fn advance(path: &Path, connection: &Connection) -> std::io::Result<()> {
    let Some((seq, chain)) = last_row(connection) else { return Ok(()) };
    let extends = match read(path) {
        AuditMark::Missing => !was_marked(connection),
        AuditMark::Forged => false,
        AuditMark::At { seq: then, chain } => {
            then < seq && chain_at(connection, then) == Some(chain)
        }
    };
    if !extends {
        return Ok(());
    }
    let signature = hex(hmac::sign(&key(path)?, &signed_message(seq, &chain)).as_ref());
    let mark = serde_json::to_vec(&AuditMarkFile { seq, chain, signature })?;
    replace(&mark_path(path), &mark, FileAccess::Owner)?;
    let marked = connection.execute("INSERT OR IGNORE INTO marked (once) VALUES (1)", []);
    marked.map(drop).map_err(std::io::Error::other)
}

pub(crate) fn was_marked(connection: &Connection) -> bool {
    let found = connection.query_row("SELECT EXISTS (SELECT 1 FROM marked)", [], |row| row.get(0));
    // A file of the first format does not have this table.
    found.unwrap_or(false)
}

fn last_row(connection: &Connection) -> Option<(i64, String)> {
    let query = "SELECT seq, chain FROM audit ORDER BY seq DESC LIMIT 1";
    connection.query_row(query, [], |row| Ok((row.get(0)?, row.get(1)?))).ok()
}

fn chain_at(connection: &Connection, seq: i64) -> Option<String> {
    connection.query_row("SELECT chain FROM audit WHERE seq = ?1", [seq], |row| row.get(0)).ok()
}

fn mark_path(path: &Path) -> std::path::PathBuf {
    path.with_extension("seal")
}

fn signed_message(seq: i64, chain: &str) -> Vec<u8> {
    format!("switchboard audit mark 1\n{seq}\n{chain}").into_bytes()
}
