//! Opens a conversation: its model, its servers and its store.

use std::path::Path;
use std::sync::Arc;

use switchboard_agent::{
    Conversation, ConversationParts, ConversationStart, Event, OpenError, load_state,
};
use switchboard_config::{Config, ModelProfile};
use switchboard_core::{Face, ServerId};
use switchboard_host::{Host, Recording};
use switchboard_prompting::{ChatMessage, Model, ModelError, ModelErrorKind};
use switchboard_rules::Pattern;
use switchboard_store::{SessionId, SessionStore};
use switchboard_terminal::{CliError, People, exit_code};
use tokio::sync::mpsc;

use crate::program::{ChatContext, StartOptions};

/// Options that all conversations share.
#[derive(Clone, Debug, Default)]
pub struct TalkOptions {
    /// The model: a profile of the configuration, or `provider:model`.
    pub model: Option<String>,
    pub allow: Vec<Pattern>,
    /// The servers to use; all of them if empty.
    pub server: Vec<String>,
    pub name: Option<String>,
    /// Maximum number of requests to the model per turn.
    pub max_steps: Option<u32>,
}

pub(crate) struct OpenConversation {
    pub(crate) host: Host,
    pub(crate) sessions: SessionStore,
    pub(crate) conversation: Conversation,
    pub(crate) events: mpsc::Receiver<Event>,
    pub(crate) model: Arc<dyn Model>,
    pub(crate) config: Config,
    /// Whether the conversation waits for the user; otherwise an interrupted turn resumes.
    pub(crate) idle: bool,
    /// The last messages of a resumed conversation.
    pub(crate) last_words: Vec<ChatMessage>,
}

pub(crate) async fn open(
    context: &ChatContext<'_>,
    talk: &TalkOptions,
    resume: Option<&str>,
    people: People,
) -> Result<OpenConversation, CliError> {
    let config = context.program.config()?;
    let sessions = open_sessions(&context.places.state, context.recording, &config)?;
    let found = match resume {
        None => {
            let name = talk.name.clone();
            let folder = context.environment.current_dir.clone();
            let opening = ConversationStart::New { name, folder };
            FoundSession { opening, model: None, idle: true, last_words: Vec::new() }
        }
        Some(word) => find_session(&sessions, word, talk.name.as_deref()).await?,
    };
    let FoundSession { opening, model, idle, last_words } = found;
    // A resumed conversation keeps its model, unless the command line names another one.
    let chosen = talk.model.clone().or(model);
    let model = model_for(context, &config, chosen.as_deref())?;
    let mut settings = config.settings.chat.clone();
    if let Some(steps) = talk.max_steps {
        settings.max_steps = usize::try_from(steps).unwrap_or(usize::MAX);
    }
    let only = chosen_servers(context, &config, &talk.server)?;
    let allow = talk.allow.clone();
    let host = context.program.start(
        context.places.clone(),
        context.environment.clone(),
        StartOptions { only: only.clone(), people, allow, model: chosen },
    )?;
    // Wait for the servers, so that the first request already lists their tools.
    context.program.ready(&host, only.as_deref()).await?;
    let parts = ConversationParts {
        host: host.clone(),
        model: Arc::clone(&model),
        sessions: sessions.clone(),
        settings,
        face: Face::Chat,
    };
    let (conversation, events) = match Conversation::open(parts, opening).await {
        Ok(opened) => opened,
        Err(error) => {
            host.stop().await;
            return Err(open_error(error));
        }
    };
    Ok(OpenConversation { host, sessions, conversation, events, model, config, idle, last_words })
}

struct FoundSession {
    opening: ConversationStart,
    model: Option<String>,
    idle: bool,
    last_words: Vec<ChatMessage>,
}

async fn find_session(
    sessions: &SessionStore,
    word: &str,
    new_name: Option<&str>,
) -> Result<FoundSession, CliError> {
    let found = sessions.find(word).await?;
    if let Some(name) = new_name {
        sessions.rename(&found.id, name).await?;
    }
    let state = load_state(sessions, &found.id).await.map_err(open_error)?;
    let said = state.messages.iter().rev().filter(|message| is_user_message(message)).take(2);
    let mut last_words: Vec<ChatMessage> = said.cloned().collect();
    last_words.reverse();
    let opening = ConversationStart::Resume(found.id);
    Ok(FoundSession { opening, model: Some(found.model), idle: state.is_idle(), last_words })
}

fn is_user_message(message: &ChatMessage) -> bool {
    match message {
        ChatMessage::User { text, .. } | ChatMessage::Assistant { text, .. } => {
            !text.trim().is_empty()
        }
        ChatMessage::Results { .. } => false,
    }
}

impl OpenConversation {
    pub(crate) async fn close(self) -> SessionId {
        let session = self.conversation.session().clone();
        // Drop the receiver first, so that closing does not wait for events to be read.
        drop(self.events);
        self.conversation.close().await;
        self.host.stop().await;
        session
    }
}

/// Opens the session store in the state folder, or one in memory if recording is off.
pub fn open_sessions(
    state: &Path,
    recording: Recording,
    config: &Config,
) -> Result<SessionStore, CliError> {
    if recording == Recording::Off {
        return Ok(SessionStore::in_memory()?);
    }
    let file = state.join("record").join("sessions.db");
    Ok(SessionStore::open(&file, config.settings.durability)?)
}

fn chosen_servers(
    context: &ChatContext<'_>,
    config: &Config,
    names: &[String],
) -> Result<Option<Vec<ServerId>>, CliError> {
    if names.is_empty() {
        return Ok(None);
    }
    let ids = names.iter().map(|name| context.program.server(config, name));
    ids.collect::<Result<_, _>>().map(Some)
}

pub(crate) fn model_for(
    context: &ChatContext<'_>,
    config: &Config,
    wanted: Option<&str>,
) -> Result<Arc<dyn Model>, CliError> {
    let profile = profile_for(config, wanted)?;
    switchboard_models::open(&profile, context.environment).map_err(model_error)
}

/// Returns the model profile for a name, or the default profile of the configuration.
pub fn profile_for(config: &Config, wanted: Option<&str>) -> Result<ModelProfile, CliError> {
    let only = || match config.models.len() {
        // With a single profile there is nothing to choose.
        1 => config.models.keys().next().map(String::as_str),
        _ => None,
    };
    let Some(name) = wanted.or(config.settings.chat.model.as_deref()).or_else(only) else {
        let hint = match config.models.is_empty() {
            true => {
                "name one with --model, such as `ollama:qwen3` or `anthropic:MODEL`, or add \
                     it to `models` of the configuration; `switchboard demo` needs none"
            }
            false => {
                "name one with --model, or set `settings.chat.model`; `switchboard models` \
                      lists them"
            }
        };
        return Err(CliError::new(exit_code::CONFIG, "no model chosen").with_hint(hint));
    };
    if let Some(profile) = config.models.get(name) {
        return Ok(profile.clone());
    }
    ModelProfile::from_spec(name).ok_or_else(|| {
        let known = config.models.keys().map(String::as_str);
        let near = switchboard_text::nearest_names(name, known, 3);
        let hint = match near.as_slice() {
            [] => "`switchboard models` lists the profiles; provider:model needs no profile"
                .to_owned(),
            near => format!("did you mean `{}`?", near.join("` or `")),
        };
        CliError::new(exit_code::CONFIG, format!("unknown model `{name}`")).with_hint(hint)
    })
}

/// Converts a model error to a command-line error.
pub fn model_error(error: ModelError) -> CliError {
    CliError { code: trouble_code(error.kind), message: error.message, hint: error.hint }
}

/// Returns the exit code for a kind of model error.
pub const fn trouble_code(trouble: ModelErrorKind) -> u8 {
    match trouble {
        ModelErrorKind::BadKey | ModelErrorKind::UnknownModel | ModelErrorKind::Profile => {
            exit_code::CONFIG
        }
        ModelErrorKind::TooLong
        | ModelErrorKind::Busy
        | ModelErrorKind::BadRequest
        | ModelErrorKind::Unreachable
        | ModelErrorKind::CutOff
        | ModelErrorKind::Malformed => exit_code::FAILED,
    }
}

/// Converts an error from opening or reading a conversation to a command-line error.
pub fn open_error(error: OpenError) -> CliError {
    match error {
        OpenError::Record(error) => error.into(),
        OpenError::Sessions(error) => error.into(),
        OpenError::Unreadable(error) => CliError::new(exit_code::TROUBLE, error.to_string()),
    }
}
