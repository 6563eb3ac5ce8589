//! State and abilities of the terminal device.

use std::io::IsTerminal as _;

/// Terminals that cannot move the cursor.
const SIMPLE_TERMINALS: [&str; 3] = ["dumb", "cons25", "emacs"];

/// Whether a person types into a terminal in which the cursor can be moved.
pub(crate) fn is_capable() -> bool {
    std::io::stdin().is_terminal() && !is_simple(std::env::var("TERM").ok().as_deref())
}

fn is_simple(name: Option<&str>) -> bool {
    name.is_some_and(|name| SIMPLE_TERMINALS.iter().any(|simple| simple.eq_ignore_ascii_case(name)))
}

/// How the terminal was when the program began.
#[cfg(unix)]
static INITIAL_STATE: std::sync::OnceLock<Option<rustix::termios::Termios>> =
    std::sync::OnceLock::new();

/// Remembers how the terminal is.
pub fn remember_mode() {
    #[cfg(unix)]
    INITIAL_STATE.get_or_init(|| rustix::termios::tcgetattr(std::io::stdin()).ok());
}

/// Gives the terminal back as it was: a question may have been left open.
pub fn restore_mode() {
    #[cfg(unix)]
    if let Some(Some(before)) = INITIAL_STATE.get() {
        use rustix::termios::{OptionalActions, tcsetattr};
        // This fails only if the terminal has been closed.
        _ = tcsetattr(std::io::stdin(), OptionalActions::Now, before);
    }
}

/// Whether the terminal has been closed: nobody will ever type into it again.
pub fn is_terminal_gone() -> bool {
    #[cfg(unix)]
    {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let input = rustix::stdio::stdin();
        let mut inputs = [PollFd::new(&input, PollFlags::empty())];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let over = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
        poll(&mut inputs, Some(&at_once))
            .is_ok_and(|_| inputs.iter().any(|input| input.revents().intersects(over)))
    }
    #[cfg(not(unix))]
    false
}

/// Whether a person can be asked: standard input and standard error are a terminal.
pub fn has_person() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Forgets the keys that were pressed before a question was shown: they are no answer to it.
pub(crate) fn discard_keys() {
    #[cfg(unix)]
    {
        use rustix::termios::{QueueSelector, tcflush};
        // This fails only for input that is not a terminal, which has no keys typed ahead.
        _ = tcflush(std::io::stdin(), QueueSelector::IFlush);
    }
}

#[cfg(test)]
mod tests {
    use super::is_simple;

    #[test]
    fn simple_terminals_are_known_by_name() {
        for (name, simple) in [
            (None, false),
            (Some("xterm-256color"), false),
            (Some("dumb"), true),
            (Some("Emacs"), true),
        ] {
            assert_eq!(is_simple(name), simple, "{name:?}");
        }
    }
}
