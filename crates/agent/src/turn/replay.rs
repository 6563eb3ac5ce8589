//! The state of a conversation from the inputs that were kept.

use crate::turn::input::TurnInput;
use crate::turn::state::TurnState;
use crate::turn::step::step;

/// A kept input with its number, from 1.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnEntry {
    pub number: u64,
    pub input: TurnInput,
}

/// Runs the inputs again. What was undone does not count; the numbers go on all the same.
#[must_use]
pub fn replay(entries: Vec<TurnEntry>) -> TurnState {
    let last = entries.last().map_or(0, |entry| entry.number);
    let mut state = TurnState::default();
    for entry in without_undone(entries) {
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
pub fn before_last_turn(entries: &[TurnEntry]) -> Option<u64> {
    let mut state = TurnState::default();
    let mut before = None;
    for entry in without_undone(entries.to_vec()) {
        if state.is_idle() && matches!(entry.input, TurnInput::Said { .. }) {
            before = entry.number.checked_sub(1);
        }
        state.number = entry.number.saturating_sub(1);
        state = step(state, entry.input).0;
    }
    before
}

/// The entries that count: without what was undone.
#[must_use]
pub fn without_undone(entries: Vec<TurnEntry>) -> Vec<TurnEntry> {
    let mut counting: Vec<TurnEntry> = Vec::with_capacity(entries.len());
    for entry in entries {
        if let TurnInput::Undone { to } = entry.input {
            // Limits are no part of a turn: they stay as they are.
            let stays = |entry: &TurnEntry| matches!(entry.input, TurnInput::Began { .. });
            counting.retain(|before| before.number <= to || stays(before));
        } else {
            counting.push(entry);
        }
    }
    counting
}
