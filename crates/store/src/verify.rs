//! Verification of the record: recomputes every seal and compares it with the stored one.

use std::path::Path;

use rusqlite::Connection;

use crate::checkpoint;
use crate::checkpoint::{Checkpoint, hex};
use crate::error::LedgerError;
use crate::reader::LedgerReader;
use crate::seal::{DigestScope, SealDigest, chain_digest, row_digest, texts_are_whole};

/// The result of verifying the record.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct VerifyReport {
    /// Number of calls whose seal is valid.
    pub sealed: u64,
    /// Number of calls that have ended but are not sealed yet.
    pub unsealed: u64,
    /// The first mismatch that was found.
    pub wrong: Option<VerifyError>,
}

/// A mismatch between the record and its seals.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct VerifyError {
    pub call: Option<i64>,
    pub what: String,
}

impl LedgerReader {
    /// Recomputes and compares every seal. Reads the whole record.
    pub async fn verify(&self) -> Result<VerifyReport, LedgerError> {
        let path = self.path().to_owned();
        self.query(move |connection| verify(&path, connection, &checkpoint::read(&path))).await
    }
}

fn verify(
    ledger: &Path,
    connection: &Connection,
    checkpoint: &Checkpoint,
) -> rusqlite::Result<VerifyReport> {
    let mut verified = VerifyReport { sealed: 0, unsealed: 0, wrong: None };
    let mut statement =
        connection.prepare("SELECT seq, call, digest, chain FROM seals ORDER BY seq")?;
    let mut rows = statement.query([])?;
    let mut before: SealDigest = [0; 32];
    let mut next: i64 = 1;
    // The chain alone can be recomputed by an attacker; the signed checkpoint cannot.
    let mut passed = match checkpoint {
        Checkpoint::Missing | Checkpoint::Forged => true,
        Checkpoint::At { seq, .. } => *seq == 0,
    };
    while let Some(row) = rows.next()? {
        let seq: i64 = row.get(0)?;
        let call: i64 = row.get(1)?;
        let digest: SealDigest = row.get(2)?;
        let chain: SealDigest = row.get(3)?;
        let wrong = if seq != next {
            Some("calls that were recorded before this one are missing")
        } else if chain_digest(&before, seq, call, &digest) != chain {
            Some("its seal does not match the previous one")
        } else {
            row_problem(ledger, connection, call, &digest)?
        };
        if let Some(what) = wrong {
            verified.wrong = Some(VerifyError { call: Some(call), what: what.to_owned() });
            return Ok(verified);
        }
        if let Checkpoint::At { seq: at, chain: then, .. } = checkpoint
            && *at == seq
        {
            passed = true;
            if *then != hex(&chain) {
                let what = "the chain up to this call was recomputed".to_owned();
                verified.wrong = Some(VerifyError { call: Some(call), what });
                return Ok(verified);
            }
        }
        (before, next) = (chain, seq + 1);
        verified.sealed += 1;
    }
    verified.unsealed = count_unsealed(connection)?;
    verified.wrong = checkpoint_problem(checkpoint, passed, verified.sealed);
    Ok(verified)
}

/// Compares a row with its sealed digest and returns the mismatch.
fn row_problem(
    ledger: &Path,
    connection: &Connection,
    call: i64,
    digest: &SealDigest,
) -> rusqlite::Result<Option<&'static str>> {
    let found = |over| row_digest(ledger, connection, call, over);
    Ok(match found(DigestScope::Everything)? {
        None => Some("it is missing from the record"),
        Some(_) if !texts_are_whole(ledger, connection, call)? => {
            Some("its arguments or its result were modified")
        }
        Some(now) if now == *digest => None,
        // Older seals do not cover the result file; newer ones never match this digest.
        Some(_) if found(DigestScope::WithoutFile)? == Some(*digest) => None,
        Some(_) => Some("it was modified after it was recorded"),
    })
}

/// Compares the end of the chain with the checkpoint and returns the mismatch.
fn checkpoint_problem(checkpoint: &Checkpoint, passed: bool, sealed: u64) -> Option<VerifyError> {
    let (call, what) = match checkpoint {
        Checkpoint::At { call, .. } if !passed => {
            (Some(*call), "the record once reached this call, and its end is missing")
        }
        Checkpoint::Forged => (None, "the checkpoint was modified"),
        Checkpoint::Missing if sealed > 0 => (None, "the checkpoint is missing"),
        Checkpoint::At { .. } | Checkpoint::Missing => return None,
    };
    Some(VerifyError { call, what: what.to_owned() })
}

fn count_unsealed(connection: &Connection) -> rusqlite::Result<u64> {
    let query = "SELECT count(*) FROM calls WHERE outcome IS NOT NULL
        AND id NOT IN (SELECT call FROM seals)";
    let count: i64 = connection.query_row(query, [], |row| row.get(0))?;
    Ok(u64::try_from(count).unwrap_or(0))
}
