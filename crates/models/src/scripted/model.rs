//! A model that answers from a script.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use switchboard_prompting::{
    About, Answering, Calls, Checking, Delta, Model, ModelError, Request, Said, Trouble,
};
use switchboard_text::shown_text;
use tokio::sync::mpsc;

use super::script::{Captured, Order, Script, answers, captured_before, newest};
use super::turn::{Played, play};
use crate::listener::Listener;

/// A model that answers from a script.
pub(crate) struct Scripted {
    about: About,
    file: PathBuf,
    script: Script,
    progress: Mutex<Progress>,
}

/// How far a script was used that is played in sequence.
#[derive(Default)]
struct Progress {
    next: usize,
    captured: Captured,
}

impl Scripted {
    /// Reads the script.
    pub(crate) fn open(about: About, file: &Path) -> Result<Self, ModelError> {
        let shown = shown_text(&file.display().to_string(), 200);
        let text = std::fs::read_to_string(file).map_err(|error| {
            let message = format!("the script `{shown}` cannot be read: {error}");
            ModelError::new(Trouble::Profile, message)
        })?;
        let script = serde_json::from_str(&text).map_err(|error| {
            let message = format!("the script `{shown}` is not right: {error}");
            ModelError::new(Trouble::Profile, message)
        })?;
        Ok(Self { about, file: file.to_owned(), script, progress: Mutex::default() })
    }

    fn play(&self, request: &Request) -> Result<Played, ModelError> {
        match self.script.order {
            Order::History => {
                let mut captured = captured_before(&self.script.turns, &request.messages);
                self.turn(answers(&request.messages), request, &mut captured)
            }
            Order::Sequence => {
                let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
                let Progress { next, captured } = &mut *progress;
                let played = self.turn(*next, request, captured)?;
                *next += 1;
                Ok(played)
            }
        }
    }

    fn turn(
        &self,
        index: usize,
        request: &Request,
        captured: &mut Captured,
    ) -> Result<Played, ModelError> {
        let number = index + 1;
        let wrong = |what: String| {
            let script = self.shown();
            ModelError::new(Trouble::BadRequest, format!("the script `{script}`: {what}"))
        };
        let Some(turn) = self.script.turns.get(index) else {
            let count = self.script.turns.len();
            let turns = if count == 1 { "turn" } else { "turns" };
            return Err(wrong(format!("it has {count} {turns}, and turn {number} was asked for")));
        };
        if !turn.calls.is_empty() && matches!(self.about.calls, Calls::Text(_)) {
            return Err(wrong(format!("turn {number} has native calls"))
                .with_hint("this model calls tools in its text: write the call into `text`"));
        }
        play(turn, number, &newest(&request.messages), captured).map_err(wrong)
    }

    fn shown(&self) -> String {
        shown_text(&self.file.display().to_string(), 200)
    }

    async fn tell(
        &self,
        request: &Request,
        heard: &mpsc::Sender<Delta>,
    ) -> Result<Said, ModelError> {
        let played = self.play(request)?;
        let mut listener = Listener::new(heard);
        for delta in played.deltas {
            if !played.delay.is_zero() {
                tokio::time::sleep(played.delay).await;
            }
            listener.tell(delta).await;
        }
        Ok(played.said)
    }
}

impl Model for Scripted {
    fn about(&self) -> &About {
        &self.about
    }

    fn answer<'a>(&'a self, request: &'a Request, heard: &'a mpsc::Sender<Delta>) -> Answering<'a> {
        Box::pin(self.tell(request, heard))
    }

    fn check(&self) -> Checking<'_> {
        let count = self.script.turns.len();
        let turns = if count == 1 { "turn" } else { "turns" };
        Box::pin(async move { Ok(format!("the script `{}` has {count} {turns}", self.shown())) })
    }
}
