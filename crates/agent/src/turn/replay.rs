//! The state of a conversation from the inputs that were kept.

use crate::turn::input::Input;
use crate::turn::state::State;
use crate::turn::step::step;

/// A kept input with its number, from 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its number.
    pub number: u64,
    /// The input.
    pub input: Input,
}

/// Runs the inputs again. What was undone does not count; the numbers go on all the same.
#[must_use]
pub fn replay(entries: Vec<Entry>) -> State {
    let last = entries.last().map_or(0, |entry| entry.number);
    let mut state = State::default();
    for entry in replayed(entries) {
        // Calls are named after the number of their answer, so it must be the one it was kept under.
        state.number = entry.number.saturating_sub(1);
        state = step(state, entry.input).0;
    }
    state.number = last;
    state
}

/// The last step before the newest turn: what an undo goes back to. None without a turn.
///
/// What was said while something ran belongs to the turn that ran.
#[must_use]
pub fn before_last_turn(entries: &[Entry]) -> Option<u64> {
    let mut state = State::default();
    let mut before = None;
    for entry in replayed(entries.to_vec()) {
        if state.is_idle() && matches!(entry.input, Input::Said { .. }) {
            before = entry.number.checked_sub(1);
        }
        state.number = entry.number.saturating_sub(1);
        state = step(state, entry.input).0;
    }
    before
}

/// The entries that count: without what was undone.
#[must_use]
pub fn replayed(entries: Vec<Entry>) -> Vec<Entry> {
    let mut counting: Vec<Entry> = Vec::with_capacity(entries.len());
    for entry in entries {
        if let Input::Undone { to } = entry.input {
            // Limits are no part of a turn: they stay as they are.
            let stays = |entry: &Entry| matches!(entry.input, Input::Began { .. });
            counting.retain(|before| before.number <= to || stays(before));
        } else {
            counting.push(entry);
        }
    }
    counting
}
