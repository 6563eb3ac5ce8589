//! Who decides about calls: a reviewer of your own, and what the model whose call it is gets to hear.
#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use serde_json::json;
use switchboard_core::Answer;
use switchboard_host::{Caller, Host, Options};
use switchboard_policy::Question;

/// Says no to whatever looks at files, and yes to everything else.
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
