//! `raw-server stdio|http`: how the server is started.

use std::time::Duration;

use super::answer::RawAnswers;
use super::{http, stdio};
use crate::command_words::CommandWords;
use crate::error::Result;

/// Runs the server until its input ends.
pub(crate) fn run(mut words: CommandWords) -> Result<()> {
    let tools: usize = words.option("--tools")?.unwrap_or(1);
    let delay: u64 = words.option("--delay-ms")?.unwrap_or_default();
    let transport = words.next().unwrap_or_default();
    words.end()?;
    let answers = RawAnswers::new(tools);
    // A server that is slow to start reads nothing meanwhile.
    std::thread::sleep(Duration::from_millis(delay));
    match transport.as_str() {
        "stdio" => stdio::serve(&answers),
        "http" => {
            let runtime = tokio::runtime::Runtime::new()?;
            let served = runtime.block_on(http::serve(answers));
            // The thread that waits for the input cannot be stopped.
            runtime.shutdown_background();
            served
        }
        other => Err(format!("`{other}` is neither `stdio` nor `http`").into()),
    }
}
