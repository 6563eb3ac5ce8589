//! Listeners of the service: a Unix socket that only its owner can open, or a local port.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The address that a listener binds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListenAddress {
    /// A Unix socket; without a path, the default one.
    Unix(Option<PathBuf>),
    /// A loopback address and port.
    Tcp(SocketAddr),
}

/// The text is not a listen address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid listen address `{0}`: use `unix:PATH` or `127.0.0.1:PORT`")]
pub struct BadListenAddress(String);

/// The reason why the service cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    #[error("another switchboard listens on `{0}`")]
    Taken(String),
    #[error("`{0}` exists and is not a socket")]
    NoSocket(String),
    #[error("`{0}` can be reached from other machines")]
    Reachable(SocketAddr),
    #[error("this system has no Unix sockets")]
    NoUnix,
    #[error("cannot listen on `{place}`: {cause}")]
    Refused { place: String, cause: io::Error },
}

impl FromStr for ListenAddress {
    type Err = BadListenAddress;

    fn from_str(text: &str) -> Result<Self, BadListenAddress> {
        match text.strip_prefix("unix:") {
            Some("") => Ok(Self::Unix(None)),
            Some(path) => Ok(Self::Unix(Some(PathBuf::from(path)))),
            None => text.parse().map(Self::Tcp).map_err(|_| BadListenAddress(text.to_owned())),
        }
    }
}

/// A bound listener. Dropping it removes the socket file.
pub struct GrpcListener {
    pub(crate) socket: ListenSocket,
    place: String,
    #[cfg(unix)]
    _file: Option<SocketFile>,
}

pub(crate) enum ListenSocket {
    #[cfg(unix)]
    Unix(tokio::net::UnixListener),
    Tcp(tokio::net::TcpListener),
}

/// The file of a Unix socket, removed on drop unless it was replaced.
#[cfg(unix)]
struct SocketFile {
    path: PathBuf,
    number: u64,
}

impl GrpcListener {
    /// Binds a listener. `usual` is the socket path if the address has none.
    pub async fn bind(place: &ListenAddress, usual: &Path) -> Result<Self, ListenError> {
        match place {
            ListenAddress::Tcp(address) => Self::tcp(*address).await,
            ListenAddress::Unix(path) => Self::unix(path.as_deref().unwrap_or(usual)).await,
        }
    }

    async fn tcp(address: SocketAddr) -> Result<Self, ListenError> {
        // Tokens would cross the network in clear text: the service has no TLS.
        if !address.ip().is_loopback() {
            return Err(ListenError::Reachable(address));
        }
        let refused = |cause| ListenError::Refused { place: address.to_string(), cause };
        let listener = tokio::net::TcpListener::bind(address).await.map_err(refused)?;
        let place = listener.local_addr().map_err(refused)?.to_string();
        Ok(Self {
            socket: ListenSocket::Tcp(listener),
            place,
            #[cfg(unix)]
            _file: None,
        })
    }

    #[cfg(not(unix))]
    async fn unix(_path: &Path) -> Result<Self, ListenError> {
        std::future::ready(Err(ListenError::NoUnix)).await
    }

    #[cfg(unix)]
    async fn unix(path: &Path) -> Result<Self, ListenError> {
        use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
        let shown = path.display().to_string();
        let refused = |cause| ListenError::Refused { place: shown.clone(), cause };
        if let Some(folder) = path.parent() {
            switchboard_files::create_private_folder(folder).map_err(refused)?;
        }
        if let Ok(there) = std::fs::symlink_metadata(path) {
            if !there.file_type().is_socket() {
                return Err(ListenError::NoSocket(shown));
            }
            // A socket that nothing accepts on was left by a process that was killed.
            if tokio::net::UnixStream::connect(path).await.is_ok() {
                return Err(ListenError::Taken(shown));
            }
        }
        // Bound under another name and then renamed: connections are impossible before the
        // permissions are set, and a stale socket is replaced atomically.
        let hidden = path.with_added_extension(std::process::id().to_string());
        std::fs::remove_file(&hidden).or_else(|error| match error.kind() {
            io::ErrorKind::NotFound => Ok(()),
            _ => Err(refused(error)),
        })?;
        let listener = tokio::net::UnixListener::bind(&hidden).map_err(refused)?;
        let made = std::fs::set_permissions(&hidden, std::fs::Permissions::from_mode(0o600))
            .and_then(|()| std::fs::rename(&hidden, path))
            .and_then(|()| std::fs::symlink_metadata(path));
        let number = match made {
            Ok(about) => about.ino(),
            Err(error) => {
                // The error above is the one to return; a leftover socket accepts no connections.
                _ = std::fs::remove_file(&hidden);
                return Err(refused(error));
            }
        };
        let file = SocketFile { path: path.to_owned(), number };
        Ok(Self {
            socket: ListenSocket::Unix(listener),
            place: format!("unix:{shown}"),
            _file: Some(file),
        })
    }
}

impl fmt::Display for GrpcListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place)
    }
}

#[cfg(unix)]
impl Drop for SocketFile {
    fn drop(&mut self) {
        use std::os::unix::fs::MetadataExt as _;
        // Another process may have replaced the file.
        let is_ours =
            std::fs::symlink_metadata(&self.path).is_ok_and(|about| about.ino() == self.number);
        if is_ours {
            // If this fails, the next `bind` replaces the stale socket.
            _ = std::fs::remove_file(&self.path);
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_place_is_a_socket_or_a_port() {
        let cases = [
            ("unix:", Some(ListenAddress::Unix(None))),
            ("unix:a/b", Some(ListenAddress::Unix(Some("a/b".into())))),
            ("127.0.0.1:0", Some(ListenAddress::Tcp(([127, 0, 0, 1], 0).into()))),
            ("localhost:1", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(text.parse::<ListenAddress>().ok(), expected, "{text}");
        }
    }

    #[tokio::test]
    async fn a_socket_is_its_owners_alone_and_goes_away_with_its_listener() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/er/a.sock");
        let listener = GrpcListener::bind(&ListenAddress::Unix(None), &path).await.unwrap();
        assert_eq!(listener.to_string(), format!("unix:{}", path.display()));
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let second =
            GrpcListener::bind(&ListenAddress::Unix(Some(path.clone())), Path::new("")).await;
        assert!(matches!(second.err(), Some(ListenError::Taken(_))));
        drop(listener);
        assert!(!path.exists());
        let left = std::fs::read_dir(path.parent().unwrap()).unwrap().count();
        assert_eq!(left, 0);
    }

    #[tokio::test]
    async fn a_socket_that_was_left_behind_is_replaced_and_a_file_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.sock");
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        assert!(path.exists());
        let listener = GrpcListener::bind(&ListenAddress::Unix(None), &path).await.unwrap();
        tokio::net::UnixStream::connect(&path).await.unwrap();
        drop(listener);
        std::fs::write(&path, "mine").unwrap();
        let refused = GrpcListener::bind(&ListenAddress::Unix(None), &path).await;
        assert!(matches!(refused.err(), Some(ListenError::NoSocket(_))));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
    }

    #[tokio::test]
    async fn a_port_that_other_machines_reach_is_refused() {
        let place = ListenAddress::Tcp(([0, 0, 0, 0], 0).into());
        let refused = GrpcListener::bind(&place, Path::new("")).await;
        assert!(matches!(refused.err(), Some(ListenError::Reachable(_))));
    }
}
