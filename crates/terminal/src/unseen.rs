//! A line that a person types unseen.

use std::io;

/// Asks for a line that is not shown while it is typed; gives it without its end.
pub async fn ask_secret_line(question: &str) -> io::Result<String> {
    let question = question.to_owned();
    tokio::task::spawn_blocking(move || read(&question)).await.map_err(io::Error::other)?
}

#[cfg(unix)]
fn read(question: &str) -> io::Result<String> {
    use std::io::Write as _;

    // Before the question: nothing that is typed as soon as it is there is shown, or lost.
    let dark = EchoOff::begin()?;
    let mut out = io::stderr();
    write!(out, "{question}")?;
    out.flush()?;
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    drop(dark);
    // The end of the line was not shown either.
    writeln!(out)?;
    line.truncate(line.trim_end_matches(['\r', '\n']).len());
    Ok(line)
}

/// The terminal shows nothing of what is typed, until this is dropped.
#[cfg(unix)]
struct EchoOff(rustix::termios::Termios);

#[cfg(unix)]
impl EchoOff {
    fn begin() -> io::Result<Self> {
        use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
        let before = tcgetattr(io::stdin())?;
        let mut dark = before.clone();
        dark.local_modes -= LocalModes::ECHO;
        // What was pressed before the question is no answer to it.
        tcsetattr(io::stdin(), OptionalActions::Flush, &dark)?;
        Ok(Self(before))
    }
}

#[cfg(unix)]
impl Drop for EchoOff {
    fn drop(&mut self) {
        use rustix::termios::{OptionalActions, tcsetattr};
        // A terminal that was closed has no echo to turn on again.
        _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
    }
}

#[cfg(not(unix))]
fn read(question: &str) -> io::Result<String> {
    let terminal = console::Term::stderr();
    terminal.write_str(question)?;
    terminal.read_secure_line()
}
