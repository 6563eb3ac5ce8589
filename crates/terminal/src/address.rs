//! URLs that a server wants the user to visit: shown in full, and opened only with consent.

use std::process::{Command, Stdio};

use switchboard_host::UrlAsk;
use switchboard_store::AskReply;
use switchboard_text::escape_line;

use crate::form::{Typist, is_yes};

pub(crate) fn ask_person(ask: &UrlAsk, person: &mut impl Typist) -> Result<AskReply, AskReply> {
    let domain = escape_line(&ask.domain);
    let mut text = format!(
        "It asks you to open this URL:\n\n  {}\n\nThe domain is {}.\n",
        escape_line(&ask.url),
        console::style(domain).for_stderr().bold(),
    );
    for warning in &ask.warnings {
        text.push_str(&format!("Warning: {}.\n", escape_line(warning)));
    }
    person.show(&text)?;
    if !is_yes(&person.line("Open it in your browser? [y/N] ")?) {
        return Ok(AskReply::Decline);
    }
    if let Err(why) = person.open(&ask.url) {
        let url = escape_line(&ask.url);
        person.show(&format!("{}; open it yourself:\n\n  {url}\n", escape_line(&why)))?;
    }
    Ok(AskReply::Accept(None))
}

/// Opens a URL with the user's browser or the platform's default opener, never through a shell.
pub fn open_address(url: &str, browser: Option<&str>) -> Result<(), String> {
    let mut command =
        browser.and_then(|browser| browser_command(browser, url)).unwrap_or_else(|| opener(url));
    // A browser that writes to the terminal would garble the question on it.
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let cannot = |why: String| format!("no browser could be started ({why})");
    let mut child = command.spawn().map_err(|error| cannot(error.to_string()))?;
    // An opener exits soon or continues as the browser; only the former can report a failure.
    for _ in 0..20 {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(cannot(status.to_string())),
            Ok(None) => std::thread::sleep(std::time::Duration::from_millis(50)),
            Err(error) => return Err(cannot(error.to_string())),
        }
    }
    Ok(())
}

/// Returns the first command in `BROWSER`, with the URL substituted for `%s` or appended.
fn browser_command(browser: &str, url: &str) -> Option<Command> {
    if cfg!(windows) || cfg!(target_os = "macos") {
        return None;
    }
    // `BROWSER` is a list of alternatives separated by colons; only the first one is tried.
    let mut words = browser.split(':').next()?.split_whitespace();
    let mut command = Command::new(words.next()?);
    let mut placed = false;
    for word in words {
        placed |= word.contains("%s");
        command.arg(word.replace("%s", url));
    }
    if !placed {
        command.arg(url);
    }
    Some(command)
}

#[cfg(target_os = "macos")]
fn opener(url: &str) -> Command {
    let mut command = Command::new("open");
    command.arg(url);
    command
}

/// Returns the URL handler of Windows, which, unlike `cmd`, does not interpret characters of a URL.
#[cfg(windows)]
fn opener(url: &str) -> Command {
    let mut command = Command::new("rundll32");
    command.args(["url.dll,FileProtocolHandler", url]);
    command
}

#[cfg(not(any(windows, target_os = "macos")))]
fn opener(url: &str) -> Command {
    let mut command = Command::new("xdg-open");
    command.arg(url);
    command
}
