//! A reviewer of your own: it decides calls, and its feedback goes to the model.
#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use serde_json::json;
use switchboard_core::Answer;
use switchboard_host::{Caller, Host, Options};
use switchboard_policy::Question;

/// Rejects calls that look at files, and approves all others.
fn decide(question: &Question) -> Answer {
    match question.call().target().name.starts_with("files_") {
        true => Answer::Reject("Ask me before you look at files.".to_owned()),
        false => Answer::Run,
    }
}

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let host = Host::start(Options::standalone(folder.path()).with_reviewer(decide))?;
    host.wait_settled(None).await;
    let model = Caller::model("a model");
    let time = host.call_for_content(&model, "builtin", "time_now", &()).await?;
    println!("it may know the time: {}", time.items.len() == 1);
    let files = host.call_for_content(&model, "builtin", "files_list", &json!({})).await;
    println!("{}", files.err().ok_or("that was not allowed")?);
    host.stop().await;
    Ok(())
}
