//! Ends logins: removes them from the store first, then revokes their tokens.

use reqwest::Url;
use schemars::JsonSchema;
use serde::Serialize;

use crate::error::LoginError;
use crate::fetch::OauthFetcher;
use crate::grant::revoke;
use crate::logins::Logins;
use crate::store::{LoginRecord, StoreChange};

/// How the end of a login went. It is forgotten here in any case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "LoginEnded")]
pub struct LogoutReport {
    /// The server.
    pub server: String,
    /// Whether the authorization server ended the token, too.
    pub revoked: bool,
    /// Why it did not.
    pub why: Option<String>,
}

impl Logins {
    /// Ends the logins of a server.
    ///
    /// # Errors
    /// Returns an error if the stored logins cannot be read or changed.
    pub async fn logout(&self, server: &str) -> Result<Vec<LogoutReport>, LoginError> {
        if !self.shared.store.file().exists() {
            return Ok(Vec::new());
        }
        let mut ended = Vec::new();
        self.shared
            .store
            .edit(|contents| {
                let all = std::mem::take(&mut contents.logins);
                let (gone, rest): (Vec<LoginRecord>, Vec<LoginRecord>) =
                    all.into_iter().partition(|kept| kept.server == server);
                contents.logins = rest;
                ended = gone;
                if ended.is_empty() { StoreChange::No } else { StoreChange::Yes }
            })
            .await?;
        self.revoke_all(ended).await
    }

    /// Ends all logins and removes all client registrations, even if the file is unreadable.
    ///
    /// # Errors
    /// Returns an error if the file cannot be removed.
    pub async fn logout_all(&self) -> Result<Vec<LogoutReport>, LoginError> {
        let contents = self.shared.store.read().await;
        self.shared.store.remove_file()?;
        match contents {
            Ok(contents) => self.revoke_all(contents.logins.clone()).await,
            Err(error) => {
                let why = format!("the stored logins were removed unread: {error}");
                Ok(vec![LogoutReport { server: "*".to_owned(), revoked: false, why: Some(why) }])
            }
        }
    }

    async fn revoke_all(&self, gone: Vec<LoginRecord>) -> Result<Vec<LogoutReport>, LoginError> {
        let mut ended = Vec::new();
        for kept in gone {
            let why = match self.revoke(&kept).await {
                Ok(()) => None,
                Err(error) => Some(error.to_string()),
            };
            ended.push(LogoutReport { server: kept.server, revoked: why.is_none(), why });
        }
        Ok(ended)
    }

    async fn revoke(&self, kept: &LoginRecord) -> Result<(), LoginError> {
        let Some(endpoint) = &kept.revocation_endpoint else {
            let why = "the authorization server does not offer to end tokens".to_owned();
            return Err(LoginError::NotVisited(why));
        };
        let unusable = |_| LoginError::NotVisited("its address cannot be read".to_owned());
        let url = Url::parse(&kept.url).map_err(unusable)?;
        let fetcher: OauthFetcher = self.fetcher(&url, None)?;
        let endpoint = fetcher.reach.check("the revocation endpoint", endpoint)?;
        // Revoke the refresh token first: it could still be exchanged for new access tokens.
        if let Some(refresh) = &kept.refresh {
            revoke(&fetcher, &endpoint, &kept.client, refresh, "refresh_token").await?;
        }
        revoke(&fetcher, &endpoint, &kept.client, &kept.access, "access_token").await
    }
}
