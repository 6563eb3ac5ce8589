//! Ends logins: removes them from the store first, then revokes their tokens.

use reqwest::Url;
use schemars::JsonSchema;
use serde::Serialize;

use crate::error::LoginError;
use crate::grant::revoke;
use crate::logins::Logins;
use crate::store::{LoginRecord, StoreChange};

/// The result of a logout. The login is removed from this machine in any case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "LoginEnded")]
pub struct LogoutReport {
    /// Name of the server that required the login.
    pub server: String,
    /// Whether the authorization server revoked the tokens.
    pub revoked: bool,
    /// Why the tokens were not revoked.
    pub why: Option<String>,
}

impl Logins {
    /// Ends the logins of a server. Fails if the stored logins cannot be read or changed.
    pub async fn logout(&self, server: &str) -> Result<Vec<LogoutReport>, LoginError> {
        if !self.shared.store.file().exists() {
            return Ok(Vec::new());
        }
        let mut ended: Vec<LoginRecord> = Vec::new();
        self.shared
            .store
            .edit(|contents| {
                ended = contents.logins.extract_if(.., |kept| kept.server == server).collect();
                if ended.is_empty() { StoreChange::No } else { StoreChange::Yes }
            })
            .await?;
        Ok(self.revoke_all(ended).await)
    }

    /// Ends all logins and removes all client registrations, even if the file is unreadable. Fails
    /// if the file cannot be removed.
    pub async fn logout_all(&self) -> Result<Vec<LogoutReport>, LoginError> {
        let contents = self.shared.store.read().await;
        // Before the revocation, which may fail: the user asked to forget the logins either way.
        self.shared.store.remove_file()?;
        match contents {
            Ok(contents) => Ok(self.revoke_all(contents.logins.clone()).await),
            Err(error) => {
                let why = format!("the stored logins were removed without being read: {error}");
                Ok(vec![LogoutReport { server: "*".to_owned(), revoked: false, why: Some(why) }])
            }
        }
    }

    async fn revoke_all(&self, logins: Vec<LoginRecord>) -> Vec<LogoutReport> {
        let mut reports = Vec::new();
        for login in logins {
            let why = self.revoke(&login).await.err().map(|error| error.to_string());
            reports.push(LogoutReport { server: login.server, revoked: why.is_none(), why });
        }
        reports
    }

    async fn revoke(&self, kept: &LoginRecord) -> Result<(), LoginError> {
        let failed = |why: &str| LoginError::Failed {
            what: "the authorization server",
            place: kept.issuer.clone(),
            why: why.to_owned(),
        };
        let endpoint = kept.revocation_endpoint.as_ref();
        let endpoint = endpoint.ok_or_else(|| failed("has no revocation endpoint"))?;
        let url = Url::parse(&kept.url).map_err(|_| failed("belongs to an invalid server URL"))?;
        let fetcher = self.fetcher(&url, None)?;
        let endpoint = fetcher.reach.check("the revocation endpoint", endpoint)?;
        // Revoke the refresh token first: it could still be exchanged for new access tokens.
        if let Some(refresh) = &kept.refresh {
            revoke(&fetcher, &endpoint, &kept.client, refresh, "refresh_token").await?;
        }
        revoke(&fetcher, &endpoint, &kept.client, &kept.access, "access_token").await
    }
}
