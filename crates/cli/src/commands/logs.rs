//! Shows what a server wrote to its standard error.

use switchboard_host::connect::log_file;
use switchboard_host::format::escape;

use crate::context::Context;
use crate::error::CliError;
use crate::exit_code;

/// Shows the last lines of a server's log.
pub(crate) fn show(context: &Context, name: &str, lines: usize) -> Result<u8, CliError> {
    let config = context.config()?;
    let id = context.known(&config, name)?;
    let file = log_file(&context.places.state, &id);
    let text = match std::fs::read(&file) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            context.printer.say(&format!("server `{name}` has written nothing yet"));
            return Ok(exit_code::OK);
        }
        Err(error) => {
            let message = format!("cannot read `{}`: {error}", file.display());
            return Err(CliError::new(exit_code::TROUBLE, message));
        }
    };
    let all: Vec<&str> = text.lines().collect();
    let tail = all.get(all.len().saturating_sub(lines)..).unwrap_or_default();
    if context.printer.json {
        context.printer.json(&tail)?;
    } else {
        context.printer.data(&escape(&tail.join("\n")))?;
    }
    Ok(exit_code::OK)
}
