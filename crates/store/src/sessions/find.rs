//! Lookup of a conversation by id, name, prefix of an id, or `last`.

use rusqlite::{Connection, Params};
use switchboard_text::nearest_names;

use crate::sessions::error::SessionError;
use crate::sessions::id::is_part_of_id;
use crate::sessions::rows::{SessionRowError, list, read_summary};
use crate::sessions::store::SessionSummary;

/// The word for the conversation that was changed last; no conversation can have this name.
const LAST_KEYWORD: &str = "last";
const MAX_NAME_LEN: usize = 100;
/// Maximum number of conversations or names to suggest.
const MAX_CANDIDATES: usize = 8;
/// Maximum number of conversations that are searched for similar names.
const MAX_COMPARED: u32 = 1000;

/// Returns the conversation that `word` refers to.
pub(crate) fn find(connection: &Connection, word: &str) -> Result<SessionSummary, SessionRowError> {
    let word = word.trim();
    // A full id comes first, so that a conversation named like an id cannot hide another one.
    if let Some(found) = single_match(query(connection, "id = ?1", [word])?, word)? {
        return Ok(found);
    }
    if word == LAST_KEYWORD
        && let Some(found) = list(connection, 1)?.pop()
    {
        return Ok(found);
    }
    if let Some(found) = single_match(query(connection, "name = ?1", [word])?, word)? {
        return Ok(found);
    }
    // A range can use the index, unlike a pattern. `{` is the character after `z`.
    if !word.is_empty()
        && is_part_of_id(word)
        && let Some(found) =
            single_match(query(connection, "id > ?1 AND id < ?1 || '{'", [word])?, word)?
    {
        return Ok(found);
    }
    let near = near_names(connection, word)?;
    Err(SessionError::Unknown { word: word.to_owned(), near }.into())
}

/// Trims and validates the name of a conversation.
pub(crate) fn check_name(name: &str) -> Result<String, SessionError> {
    // Names are printed, so control characters could forge terminal output.
    let trimmed = name.trim();
    let good = !trimmed.is_empty()
        && trimmed != LAST_KEYWORD
        && trimmed.chars().count() <= MAX_NAME_LEN
        && !trimmed.chars().any(char::is_control);
    if good { Ok(trimmed.to_owned()) } else { Err(SessionError::BadName(name.to_owned())) }
}

/// Returns the most recently changed matches, one more than are ever listed.
fn query(
    connection: &Connection,
    condition: &str,
    values: impl Params,
) -> rusqlite::Result<Vec<SessionSummary>> {
    let query = format!(
        "SELECT * FROM sessions WHERE {condition} ORDER BY changed_at DESC, id DESC LIMIT {}",
        MAX_CANDIDATES + 1
    );
    connection.prepare_cached(&query)?.query_map(values, read_summary)?.collect()
}

fn single_match(
    mut found: Vec<SessionSummary>,
    word: &str,
) -> Result<Option<SessionSummary>, SessionError> {
    if found.len() < 2 {
        return Ok(found.pop());
    }
    let mut candidates: Vec<String> = found.iter().take(MAX_CANDIDATES).map(label).collect();
    if found.len() > MAX_CANDIDATES {
        candidates.push("…".to_owned());
    }
    Err(SessionError::Ambiguous { word: word.to_owned(), candidates })
}

fn label(session: &SessionSummary) -> String {
    match &session.name {
        Some(name) => format!("`{}` ({name})", session.id),
        None => format!("`{}`", session.id),
    }
}

fn near_names(connection: &Connection, word: &str) -> rusqlite::Result<Vec<String>> {
    let known = list(connection, MAX_COMPARED)?;
    let names = known.iter().filter_map(|session| session.name.as_deref());
    let words = names.chain(known.iter().map(|session| session.id.as_str()));
    Ok(nearest_names(word, words, 3).into_iter().map(str::to_owned).collect())
}
