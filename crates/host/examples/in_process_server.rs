//! A server without a process: its tools are functions of this program.
#![expect(clippy::print_stdout, reason = "an example shows what it got")]

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use switchboard_host::{Caller, Host, InProcess, Options};

#[derive(Deserialize, Serialize)]
struct Numbers {
    a: i64,
    b: i64,
}

#[derive(Debug, Deserialize)]
struct Sum {
    sum: i64,
}

async fn add(given: Value) -> Result<Value, String> {
    let Numbers { a, b } = serde_json::from_value(given).map_err(|error| error.to_string())?;
    let sum = a.checked_add(b).ok_or("the sum is too large")?;
    Ok(json!({ "sum": sum }))
}

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let number = json!({"type": "integer"});
    let numbers =
        json!({"type": "object", "properties": {"a": number, "b": number}, "required": ["a", "b"]});
    let math = InProcess::new("math", "1.0").with_tool("add", "Adds two numbers.", numbers, add);
    let folder = tempfile::tempdir()?;
    let host = Host::start(Options::standalone(folder.path()).with_server("math", math)?)?;
    host.wait_settled(None).await;
    let caller = Caller::person();
    let sum: Sum = host.call_for(&caller, "math", "add", &Numbers { a: 19, b: 23 }).await?;
    println!("{}", sum.sum);
    // Arguments that do not fit the schema do not reach the function.
    let wrong = host.call_for::<Sum>(&caller, "math", "add", &json!({"a": "x"})).await;
    println!("{}", wrong.err().ok_or("that does not fit")?);
    host.stop().await;
    Ok(())
}
