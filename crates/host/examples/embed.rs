//! The host in a program of your own: start it, call a tool, read the result.
#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use serde_json::json;
use switchboard_core::Item;
use switchboard_host::{Caller, Host, Options};

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // `Options::for_user()` would use the configuration of the user.
    let folder = tempfile::tempdir()?;
    let host = Host::start(Options::standalone(folder.path()))?;
    host.wait_settled(None).await;
    let given = json!({"time": "09:30", "from": "Europe/Berlin", "to": "Asia/Tokyo"});
    let reply = host.call_for_content(&Caller::person(), "builtin", "time_convert", &given).await?;
    for item in &reply.items {
        if let Item::Text(text) = item {
            println!("{text}");
        }
    }
    host.stop().await;
    Ok(())
}
