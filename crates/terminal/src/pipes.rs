//! Standard input and output as the system's own pipes, without a thread in between.

use tokio::io::{AsyncRead, AsyncWrite};

/// Something to read from.
type Input = Box<dyn AsyncRead + Send + Unpin>;
/// Something to write to.
type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// Standard input: a pipe or a socket where it is one, else through a thread.
#[cfg(unix)]
pub fn standard_input() -> Input {
    use std::os::fd::AsFd as _;
    let input = std::io::stdin();
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

/// Standard output: a pipe or a socket where it is one, else through a thread.
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

/// Some programs start others with a pair of sockets in place of pipes.
#[cfg(unix)]
fn socket(fd: std::os::fd::OwnedFd) -> Option<tokio::net::UnixStream> {
    rustix::net::getsockname(&fd).ok()?;
    let socket = std::os::unix::net::UnixStream::from(fd);
    socket.set_nonblocking(true).ok()?;
    tokio::net::UnixStream::from_std(socket).ok()
}

/// Returns standard input.
#[cfg(not(unix))]
pub fn standard_input() -> Input {
    Box::new(tokio::io::stdin())
}

/// Returns standard output.
#[cfg(not(unix))]
pub fn standard_output() -> Output {
    Box::new(tokio::io::stdout())
}
