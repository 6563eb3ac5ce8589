//! Restores the state of a conversation by replaying its stored inputs.

use crate::turn::input::TurnInput;
use crate::turn::state::TurnState;
use crate::turn::step::step;

/// A stored input with its step number, starting at 1.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnEntry {
    pub number: u64,
    pub input: TurnInput,
}

/// Replays inputs to restore a state. Undone steps are skipped; their numbers are not reused.
#[must_use]
pub fn replay(entries: Vec<TurnEntry>) -> TurnState {
    let last = entries.last().map_or(0, |entry| entry.number);
    let mut state = TurnState::default();
    for entry in without_undone(entries) {
        // Calls are identified by the step number of their answer, so restore that number.
        state.number = entry.number.saturating_sub(1);
        state = step(state, entry.input).0;
    }
    state.number = last;
    state
}

/// Returns the last step before the newest turn, to which an undo goes back; `None` without a turn.
///
/// A message sent while a step was running belongs to that step's turn.
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

/// Returns the entries that are still in effect.
#[must_use]
pub fn without_undone(entries: Vec<TurnEntry>) -> Vec<TurnEntry> {
    let mut counting: Vec<TurnEntry> = Vec::with_capacity(entries.len());
    for entry in entries {
        if let TurnInput::Undone { to } = entry.input {
            // Limits belong to the model in use and not to a turn, so an undo keeps them.
            let stays = |entry: &TurnEntry| matches!(entry.input, TurnInput::Began { .. });
            counting.retain(|before| before.number <= to || stays(before));
        } else {
            counting.push(entry);
        }
    }
    counting
}
