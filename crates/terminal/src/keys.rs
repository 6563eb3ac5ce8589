//! Lines that a person types into a question that may be withdrawn while they type.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use switchboard_store::Reply;

use crate::form::Typist;
use crate::{address, tty};

#[cfg(unix)]
use crate::raw::Raw;

/// Whether a question still stands. Clones are about the same one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Standing {
    withdrawn: Arc<AtomicBool>,
    #[cfg(unix)]
    raw: Raw,
}

impl Standing {
    /// Takes the question back, and the terminal as it was.
    pub(crate) fn withdraw(&self) {
        self.withdrawn.store(true, Ordering::Release);
        #[cfg(unix)]
        self.raw.restore();
    }

    /// Whether nobody has taken it back.
    pub(crate) fn is_standing(&self) -> bool {
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

    fn stands(&self) -> Result<(), Reply> {
        if self.is_standing() { Ok(()) } else { Err(Reply::Cancel) }
    }
}

/// Somebody at standard input and standard error.
pub(crate) struct AtKeys {
    standing: Standing,
}

impl AtKeys {
    /// From here on keys come to us.
    pub(crate) fn new(standing: Standing) -> Self {
        tty::forget_keys();
        #[cfg(unix)]
        standing.raw.enter();
        Self { standing }
    }
}

impl Drop for AtKeys {
    fn drop(&mut self) {
        #[cfg(unix)]
        self.standing.raw.restore();
    }
}

impl Typist for AtKeys {
    fn show(&mut self, text: &str) -> Result<(), Reply> {
        self.standing.stands()?;
        let mut out = std::io::stderr();
        write!(out, "{text}").and_then(|()| out.flush()).map_err(|_| Reply::Cancel)
    }

    #[cfg(unix)]
    fn line(&mut self, question: &str) -> Result<String, Reply> {
        self.show(question)?;
        let mut line = crate::raw::LineOfKeys::default();
        loop {
            self.standing.stands()?;
            let Some(bytes) = crate::raw::pressed().map_err(|_| Reply::Cancel)? else {
                continue;
            };
            let (echo, ended) = line.press(&bytes);
            self.show(&echo)?;
            match ended {
                None => {}
                Some(crate::raw::Ended::Line) => return Ok(line.into_text()),
                Some(crate::raw::Ended::Left) => return Err(Reply::Cancel),
            }
        }
    }

    #[cfg(not(unix))]
    fn line(&mut self, question: &str) -> Result<String, Reply> {
        self.show(question)?;
        let mut line = String::new();
        match std::io::stdin().read_line(&mut line) {
            Ok(0) | Err(_) => Err(Reply::Cancel),
            Ok(_) => self.standing.stands().map(|()| line),
        }
    }

    fn open(&mut self, url: &str) -> Result<(), String> {
        address::open_address(url, None)
    }
}
