//! DNS resolution for logins: each name is resolved once, and the checked addresses are dialled.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use switchboard_net::AddressScope;

type ResolveFuture = Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send>>;

/// A resolver that returns only allowed addresses.
pub(crate) struct Resolver {
    reach: AddressScope,
    look_up: fn(String) -> ResolveFuture,
}

impl Resolver {
    pub(crate) fn new(reach: AddressScope) -> Self {
        Self { reach, look_up: system_lookup }
    }

    pub(crate) fn reach(&self) -> AddressScope {
        self.reach
    }
}

fn system_lookup(name: String) -> ResolveFuture {
    Box::pin(async move { Ok(tokio::net::lookup_host((name, 0)).await?.collect()) })
}

#[derive(Debug, thiserror::Error)]
#[error("its name resolves to an address that is not public")]
pub(crate) struct AddressNotAllowed;

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let reach = self.reach;
        let looking_up = (self.look_up)(name.as_str().to_owned());
        Box::pin(async move {
            let found = looking_up.await?;
            if found.is_empty() {
                return Err(io::Error::from(io::ErrorKind::NotFound).into());
            }
            // Filtered here, because a name could change its address between a separate check and
            // the connection (DNS rebinding).
            let allowed: Vec<SocketAddr> =
                found.into_iter().filter(|address| reach.allows(address.ip())).collect();
            if allowed.is_empty() {
                return Err(AddressNotAllowed.into());
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use switchboard_wire::Authorities;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;
    use crate::error::LoginError;
    use crate::fetch::OauthFetcher;

    #[tokio::test]
    async fn a_name_that_leads_to_this_machine_is_dialled_only_for_a_server_on_it() {
        let name = || "localhost".parse::<Name>().unwrap();
        let refused = Resolver::new(AddressScope::Public).resolve(name()).await.err().unwrap();
        assert!(refused.downcast_ref::<AddressNotAllowed>().is_some(), "{refused}");
        let allowed = Resolver::new(AddressScope::Loopback).resolve(name()).await.ok().unwrap();
        assert!(allowed.map(|address| address.ip()).all(|ip| ip.is_loopback()));
    }

    /// A resolver that returns another address to the second query.
    fn rebinding(first: [u8; 4], asked: &AtomicUsize) -> ResolveFuture {
        let times = asked.fetch_add(1, Ordering::SeqCst);
        let address = if times == 0 { first } else { [10, 0, 0, 1] };
        Box::pin(async move { Ok(vec![SocketAddr::from((address, 0))]) })
    }

    #[tokio::test]
    async fn ss_04_the_address_that_was_checked_is_the_one_that_is_dialled() {
        static ASKED: AtomicUsize = AtomicUsize::new(0);
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let answering = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            assert_ne!(stream.read(&mut [0; 4096]).await.unwrap(), 0);
            let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ntrue";
            stream.write_all(answer).await.unwrap();
        });
        let look_up = |_| rebinding([127, 0, 0, 1], &ASKED);
        let fetcher = OauthFetcher::with_resolver(
            Resolver { reach: AddressScope::Loopback, look_up },
            &Authorities::default(),
        )
        .unwrap();
        let url = format!("http://rebinding.localhost:{port}/").parse().unwrap();
        let fetched = fetcher.get_json::<bool>("the page", url).await;
        assert!(matches!(fetched, Ok(Some(true))));
        answering.await.unwrap();
        assert_eq!(ASKED.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn ss_04_a_name_that_leads_to_a_private_address_is_not_dialled() {
        static ASKED: AtomicUsize = AtomicUsize::new(0);
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let look_up = |_| rebinding([127, 0, 0, 1], &ASKED);
        let fetcher = OauthFetcher::with_resolver(
            Resolver { reach: AddressScope::Public, look_up },
            &Authorities::default(),
        )
        .unwrap();
        let url = format!("https://127.0.0.1.names.example:{port}/").parse().unwrap();
        let fetched = fetcher.get_json::<bool>("the page", url).await;
        assert!(matches!(fetched, Err(LoginError::Blocked { .. })));
        assert_eq!(ASKED.load(Ordering::SeqCst), 1);
        // No connection reached the listener.
        let waiting = tokio::time::timeout(Duration::ZERO, listener.accept()).await;
        assert!(waiting.is_err(), "somebody dialled");
    }
}
