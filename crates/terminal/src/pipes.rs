//! Asynchronous standard input and output, without a thread in between where possible.

use tokio::io::{AsyncRead, AsyncWrite};

type Input = Box<dyn AsyncRead + Send + Unpin>;
type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// Returns standard input: a pipe or a socket if it is one, otherwise read by a thread.
#[cfg(unix)]
pub fn standard_input() -> Input {
    use std::os::fd::AsFd as _;
    let input = std::io::stdin();
    // A copy, because dropping the pipe closes its descriptor.
    let copy = || rustix::io::dup(input.as_fd()).ok();
    if let Some(pipe) =
        copy().and_then(|fd| tokio::net::unix::pipe::Receiver::from_owned_fd(fd).ok())
    {
        return Box::new(pipe);
    }
    if let Some(socket) = copy().and_then(socket) {
        return Box::new(socket);
    }
    Box::new(tokio::io::stdin())
}

/// Returns standard output: a pipe or a socket if it is one, otherwise written by a thread.
#[cfg(unix)]
pub fn standard_output() -> Output {
    use std::os::fd::AsFd as _;
    let output = std::io::stdout();
    let copy = || rustix::io::dup(output.as_fd()).ok();
    if let Some(pipe) = copy().and_then(|fd| tokio::net::unix::pipe::Sender::from_owned_fd(fd).ok())
    {
        return Box::new(pipe);
    }
    if let Some(socket) = copy().and_then(socket) {
        return Box::new(socket);
    }
    Box::new(tokio::io::stdout())
}

/// Converts a descriptor to a socket, if it is one.
#[cfg(unix)]
fn socket(fd: std::os::fd::OwnedFd) -> Option<tokio::net::UnixStream> {
    // Some programs start others with a socket pair instead of pipes.
    rustix::net::getsockname(&fd).ok()?;
    let socket = std::os::unix::net::UnixStream::from(fd);
    socket.set_nonblocking(true).ok()?;
    tokio::net::UnixStream::from_std(socket).ok()
}

/// Returns standard input, which a thread reads.
#[cfg(not(unix))]
pub fn standard_input() -> Input {
    Box::new(tokio::io::stdin())
}

/// Returns standard output, which a thread writes.
#[cfg(not(unix))]
pub fn standard_output() -> Output {
    Box::new(tokio::io::stdout())
}
