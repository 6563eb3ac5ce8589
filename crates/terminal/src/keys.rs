//! Reads lines for a question that may be withdrawn during typing.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use switchboard_store::AskReply;

use crate::form::Typist;
use crate::{address, tty};

#[cfg(unix)]
use crate::raw::RawMode;

/// The state of a question, shared by all clones.
#[derive(Clone, Debug, Default)]
pub(crate) struct QuestionState {
    withdrawn: Arc<AtomicBool>,
    #[cfg(unix)]
    raw: RawMode,
}

impl QuestionState {
    /// Withdraws the question and restores the terminal mode.
    pub(crate) fn withdraw(&self) {
        self.withdrawn.store(true, Ordering::Release);
        #[cfg(unix)]
        self.raw.restore();
    }

    pub(crate) fn is_open(&self) -> bool {
        !self.withdrawn.load(Ordering::Acquire)
    }

    /// Enters raw mode, until the question is withdrawn.
    #[cfg(unix)]
    pub(crate) fn enter_raw(&self) {
        self.raw.enter();
    }

    #[cfg(unix)]
    pub(crate) fn leave_raw(&self) {
        self.raw.restore();
    }

    fn check_open(&self) -> Result<(), AskReply> {
        if self.is_open() { Ok(()) } else { Err(AskReply::Cancel) }
    }
}

pub(crate) struct KeyboardTypist {
    standing: QuestionState,
}

impl KeyboardTypist {
    /// Discards typed-ahead keys and enters raw mode.
    pub(crate) fn new(standing: QuestionState) -> Self {
        tty::discard_keys();
        #[cfg(unix)]
        standing.raw.enter();
        Self { standing }
    }
}

impl Drop for KeyboardTypist {
    fn drop(&mut self) {
        #[cfg(unix)]
        self.standing.raw.restore();
    }
}

impl Typist for KeyboardTypist {
    fn show(&mut self, text: &str) -> Result<(), AskReply> {
        self.standing.check_open()?;
        let mut out = std::io::stderr();
        write!(out, "{text}").and_then(|()| out.flush()).map_err(|_| AskReply::Cancel)
    }

    #[cfg(unix)]
    fn line(&mut self, question: &str) -> Result<String, AskReply> {
        self.show(question)?;
        let mut line = crate::raw::LineBuffer::default();
        loop {
            self.standing.check_open()?;
            // Polls instead of blocking, so that a withdrawn question stops reading the keyboard.
            let Some(bytes) = crate::raw::read_key().map_err(|_| AskReply::Cancel)? else {
                continue;
            };
            let (echo, ended) = line.press(&bytes);
            self.show(&echo)?;
            match ended {
                None => {}
                Some(crate::raw::LineEnd::Line) => return Ok(line.into_text()),
                Some(crate::raw::LineEnd::Left) => return Err(AskReply::Cancel),
            }
        }
    }

    #[cfg(not(unix))]
    fn line(&mut self, question: &str) -> Result<String, AskReply> {
        self.show(question)?;
        let mut line = String::new();
        match std::io::stdin().read_line(&mut line) {
            Ok(0) | Err(_) => Err(AskReply::Cancel),
            Ok(_) => self.standing.check_open().map(|()| line),
        }
    }

    fn open(&mut self, url: &str) -> Result<(), String> {
        address::open_address(url, None)
    }
}
