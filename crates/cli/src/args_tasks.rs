//! The words of `switchboard tasks`.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Tasks {
    #[command(subcommand)]
    pub(crate) command: Option<TasksCommand>,
    #[command(flatten)]
    pub(crate) list: TaskList,
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct TaskList {
    /// Ask this server as well, which may know tasks that are not recorded here
    #[arg(long, short, value_name = "NAME")]
    pub(crate) server: Option<String>,
    /// Also those that have ended
    #[arg(long, short)]
    pub(crate) all: bool,
    /// Go on and show every change
    #[arg(long, short)]
    pub(crate) watch: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TasksCommand {
    /// List calls that servers go on with by themselves
    #[command(visible_alias = "ls")]
    List(TaskList),
    /// Show a task, and what its server says of it now
    Show(OneTask),
    /// Wait for the end of a task and show it like a call
    Wait(OneTask),
    /// Have the server give a task up
    Cancel(OneTask),
}

#[derive(Debug, Args)]
pub(crate) struct OneTask {
    /// The call's id
    pub(crate) id: String,
}
