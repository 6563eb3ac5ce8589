//! A model that answers from a script.

use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use switchboard_prompting::{
    CallMode, Model, ModelAnswer, ModelAnswerFuture, ModelCheckFuture, ModelDelta, ModelError,
    ModelErrorKind, ModelInfo, ModelRequest,
};
use switchboard_text::excerpt_text;
use tokio::sync::mpsc;

use super::script::{Captures, ModelScript, ScriptOrder, answers, captured_before, newest};
use super::turn::{PlayedTurn, play};
use crate::listener::DeltaListener;

pub(crate) struct ScriptedModel {
    about: ModelInfo,
    file: PathBuf,
    script: ModelScript,
    progress: Mutex<ScriptProgress>,
}

// The progress of a script that is played in sequence.
#[derive(Default)]
struct ScriptProgress {
    next: usize,
    captured: Captures,
}

impl ScriptedModel {
    pub(crate) fn open(about: ModelInfo, file: &Path) -> Result<Self, ModelError> {
        let shown = excerpt_text(&file.display().to_string(), 200);
        let wrong = |what: String| {
            ModelError::new(ModelErrorKind::Profile, format!("the script `{shown}` {what}"))
        };
        let text = std::fs::read_to_string(file)
            .map_err(|error| wrong(format!("cannot be read: {error}")))?;
        let script =
            serde_json::from_str(&text).map_err(|error| wrong(format!("is not valid: {error}")))?;
        Ok(Self { about, file: file.to_owned(), script, progress: Mutex::default() })
    }

    fn play(&self, request: &ModelRequest) -> Result<PlayedTurn, ModelError> {
        match self.script.order {
            ScriptOrder::History => {
                let mut captured = captured_before(&self.script.turns, &request.messages);
                self.turn(answers(&request.messages), request, &mut captured)
            }
            ScriptOrder::Sequence => {
                let mut progress = self.progress.lock();
                let ScriptProgress { next, captured } = &mut *progress;
                let played = self.turn(*next, request, captured)?;
                // Only after success, so that a retry gets the same turn.
                *next += 1;
                Ok(played)
            }
        }
    }

    fn turn(
        &self,
        index: usize,
        request: &ModelRequest,
        captured: &mut Captures,
    ) -> Result<PlayedTurn, ModelError> {
        let number = index + 1;
        let wrong = |what: String| {
            let script = self.file_text();
            ModelError::new(ModelErrorKind::BadRequest, format!("the script `{script}`: {what}"))
        };
        let Some(turn) = self.script.turns.get(index) else {
            let count = self.script.turns.len();
            let turns = if count == 1 { "turn" } else { "turns" };
            return Err(wrong(format!("it has {count} {turns}, but turn {number} was requested")));
        };
        if !turn.calls.is_empty() && matches!(self.about.calls, CallMode::Text(_)) {
            return Err(wrong(format!("turn {number} has native calls"))
                .with_hint("this model calls tools in its text: write the call into `text`"));
        }
        play(turn, number, &newest(&request.messages), captured).map_err(wrong)
    }

    fn file_text(&self) -> String {
        excerpt_text(&self.file.display().to_string(), 200)
    }

    async fn stream_answer(
        &self,
        request: &ModelRequest,
        heard: &mpsc::Sender<ModelDelta>,
    ) -> Result<ModelAnswer, ModelError> {
        let played = self.play(request)?;
        let mut listener = DeltaListener::new(heard);
        for delta in played.deltas {
            if !played.delay.is_zero() {
                tokio::time::sleep(played.delay).await;
            }
            listener.send(delta).await;
        }
        Ok(played.said)
    }
}

impl Model for ScriptedModel {
    fn info(&self) -> &ModelInfo {
        &self.about
    }

    fn answer<'a>(
        &'a self,
        request: &'a ModelRequest,
        heard: &'a mpsc::Sender<ModelDelta>,
    ) -> ModelAnswerFuture<'a> {
        Box::pin(self.stream_answer(request, heard))
    }

    fn check(&self) -> ModelCheckFuture<'_> {
        let count = self.script.turns.len();
        let turns = if count == 1 { "turn" } else { "turns" };
        Box::pin(
            async move { Ok(format!("the script `{}` has {count} {turns}", self.file_text())) },
        )
    }
}
