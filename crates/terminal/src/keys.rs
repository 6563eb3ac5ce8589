//! Lines that a person types into a question that may be withdrawn while they type.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use switchboard_store::AskReply;

use crate::form::Typist;
use crate::{address, tty};

#[cfg(unix)]
use crate::raw::RawMode;

/// Whether a question still stands. Clones are about the same one.
#[derive(Clone, Debug, Default)]
pub(crate) struct QuestionState {
    withdrawn: Arc<AtomicBool>,
    #[cfg(unix)]
    raw: RawMode,
}

impl QuestionState {
    /// Takes the question back, and the terminal as it was.
    pub(crate) fn withdraw(&self) {
        self.withdrawn.store(true, Ordering::Release);
        #[cfg(unix)]
        self.raw.restore();
    }

    /// Whether nobody has taken it back.
    pub(crate) fn is_open(&self) -> bool {
        !self.withdrawn.load(Ordering::Acquire)
    }

    /// Lets keys come one by one, as long as the question stands.
    #[cfg(unix)]
    pub(crate) fn enter_raw(&self) {
        self.raw.enter();
    }

    /// Puts the terminal back.
    #[cfg(unix)]
    pub(crate) fn leave_raw(&self) {
        self.raw.restore();
    }

    fn check_open(&self) -> Result<(), AskReply> {
        if self.is_open() { Ok(()) } else { Err(AskReply::Cancel) }
    }
}

/// Somebody at standard input and standard error.
pub(crate) struct KeyboardTypist {
    standing: QuestionState,
}

impl KeyboardTypist {
    /// From here on keys come to us.
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
