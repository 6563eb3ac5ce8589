//! The part of the command line that is about conversations.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use switchboard_host::policy::Pattern;

use crate::args_review::WaitForReview;

/// What every conversation takes.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Talk {
    /// The model: a profile of the configuration, or provider:model such as `ollama:qwen3`
    #[arg(long, short, value_name = "NAME", env = "SWITCHBOARD_MODEL")]
    pub(crate) model: Option<String>,
    /// Let the model call this without a question: server, server/tool, `*` for any text (may be given several times)
    #[arg(long, value_name = "PATTERN", value_parser = pattern)]
    pub(crate) allow: Vec<Pattern>,
    /// Only these servers (may be given several times)
    #[arg(long, short, value_name = "NAME")]
    pub(crate) server: Vec<String>,
    /// A name for the conversation
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// At most so many questions to the model in one turn
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) max_steps: Option<u32>,
}

fn pattern(text: &str) -> Result<Pattern, String> {
    Pattern::parse(text).map_err(|bad| format!("it {bad}; {}", bad.hint))
}

#[derive(Clone, Debug, Args)]
pub(crate) struct Chat {
    #[command(flatten)]
    pub(crate) talk: Talk,
    /// Go on with a conversation: its id, its name, or the last one
    #[arg(long, short, value_name = "SESSION", num_args = 0..=1, default_missing_value = "last")]
    pub(crate) resume: Option<String>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct Run {
    /// What to do; `-` reads it from standard input
    #[arg(required_unless_present = "resume", value_name = "PROMPT")]
    pub(crate) prompt: Vec<String>,
    #[command(flatten)]
    pub(crate) talk: Talk,
    /// Go on with a conversation: its id, its name, or the last one
    #[arg(long, short, value_name = "SESSION")]
    pub(crate) resume: Option<String>,
    #[command(flatten)]
    pub(crate) wait: WaitForReview,
}

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Demo {
    /// Answer every question with yes
    #[arg(long, short)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Models {
    #[command(subcommand)]
    pub(crate) command: Option<ModelsCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelsCommand {
    /// List the profiles without asking anybody
    #[command(visible_alias = "ls")]
    List,
    /// Ask whether the models answer, the keys are good and the names known
    Check {
        /// Only this one: a profile, or provider:model
        name: Option<String>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Sessions {
    #[command(subcommand)]
    pub(crate) command: Option<SessionsCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// List conversations, the last changed first
    #[command(visible_alias = "ls")]
    List {
        /// At most so many
        #[arg(long, short = 'n', default_value_t = 20)]
        limit: u32,
    },
    /// Show a conversation
    Show {
        /// Its id, the beginning of it, its name, or `last`
        session: String,
    },
    /// Give a conversation a name
    Rename {
        /// Its id, the beginning of it, its name, or `last`
        session: String,
        /// The new name
        name: String,
    },
    /// Write a conversation to a file or to standard output
    Export {
        /// Its id, the beginning of it, its name, or `last`
        session: String,
        /// The form
        #[arg(long, short, value_enum, default_value_t = ExportForm::Markdown)]
        form: ExportForm,
        /// The file to write
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Delete a conversation
    #[command(visible_alias = "rm")]
    Delete {
        /// Its id, the beginning of it, its name, or `last`
        session: String,
        /// Do not ask
        #[arg(long, short)]
        yes: bool,
    },
    /// Begin a new conversation with the steps of another one
    Fork {
        /// Its id, the beginning of it, its name, or `last`
        session: String,
        /// The last step that is taken over; all of them by default
        #[arg(long, value_name = "STEP")]
        step: Option<u64>,
        /// A name for the new one
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportForm {
    /// For people
    Markdown,
    /// For programs, with every step
    Json,
}
