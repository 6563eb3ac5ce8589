//! Obtains new tokens for an account: by refresh, by client credentials, or through a visitor.

use switchboard_config::GrantType;

use crate::account::{AccountInner, CurrentToken, LoginNeed};
use crate::challenge::Challenge;
use crate::client::ClientOrigin;
use crate::discover::discover;
use crate::error::LoginError;
use crate::grant::{TokenSet, request_tokens};
use crate::register::configured_client;
use crate::scopes::{ScopeSources, choose_scopes};
use crate::secret::Secret;
use crate::store::{LoginRecord, StoreChange};

/// Maximum number of logins by a visitor per account: a server that rejects every token must not
/// send the user to the login page forever.
const MAX_VISITS: u32 = 8;

impl AccountInner {
    /// Renews the current token. Processes take turns, and each first checks whether another has
    /// renewed it, because a refresh token can be used only once.
    pub(crate) async fn renew(&self) -> Result<(), LoginError> {
        if self.server.oauth.grant == GrantType::ClientCredentials {
            return self.grant_as_client(&Challenge::default()).await;
        }
        let over = || {
            self.set(CurrentToken::Nothing);
            LoginError::Over
        };
        let find = || self.logins.find_record(&self.server, &self.url);
        let kept = find().await?.ok_or_else(over)?;
        // Read the login again under the lock: another process may have renewed it meanwhile.
        let _lock = self.logins.shared.store.lock_renewal(&kept).await?;
        let kept = find().await?.filter(|kept| !kept.over).ok_or_else(over)?;
        let ours = match self.current() {
            CurrentToken::Token { access, .. } => Some(access),
            CurrentToken::Unread | CurrentToken::Nothing => None,
        };
        if ours.as_ref() != Some(&kept.access) {
            let theirs = CurrentToken::from_record(&kept);
            let fresh =
                matches!(theirs.at_hand(), switchboard_wire::CurrentAuthorization::Value(_));
            self.set(theirs);
            if fresh {
                return Ok(());
            }
        }
        let refresh = kept.refresh.clone().ok_or(LoginError::Over)?;
        match self.refresh(&kept, &refresh).await {
            Ok(tokens) => {
                // Set the token before storing it: the old refresh token is spent either way.
                self.set(CurrentToken::from_tokens(&tokens));
                self.store_renewed(kept, tokens).await
            }
            Err(LoginError::Refused { code, .. }) if is_final(&code) => {
                self.set(CurrentToken::Nothing);
                self.mark_ended(kept).await?;
                Err(LoginError::Over)
            }
            Err(error) => Err(error),
        }
    }

    async fn refresh(&self, kept: &LoginRecord, refresh: &Secret) -> Result<TokenSet, LoginError> {
        let fetcher = self.logins.fetcher(&self.url, self.server.authorities.as_ref())?;
        let endpoint = fetcher.reach.check("the token endpoint", &kept.token_endpoint)?;
        let mut client = kept.client.clone();
        // The configured secret may have changed since the login.
        let settings = &self.server.oauth;
        if client.origin == ClientOrigin::Configured
            && settings.client_id.as_ref() == Some(&client.id)
        {
            client.secret = settings.client_secret.as_deref().map(Secret::new);
        }
        let form = [
            ("grant_type", "refresh_token"),
            ("refresh_token", refresh.reveal()),
            ("resource", &kept.resource),
        ];
        request_tokens(&fetcher, &endpoint, &client, &form).await
    }

    async fn store_renewed(
        &self,
        renewed: LoginRecord,
        tokens: TokenSet,
    ) -> Result<(), LoginError> {
        let change = self.logins.shared.store.edit(move |contents| {
            let Some(kept) = contents.logins.iter_mut().find(|kept| is_same(kept, &renewed)) else {
                // The user logged out meanwhile; storing the tokens would undo that.
                return StoreChange::No;
            };
            kept.access = tokens.access;
            kept.ends = tokens.ends;
            // A response without a refresh token or scopes leaves the old ones in force.
            kept.refresh = tokens.refresh.or(kept.refresh.take());
            kept.granted = tokens.scopes.or(kept.granted.take());
            kept.over = false;
            StoreChange::Yes
        });
        change.await
    }

    /// Records that a login cannot be renewed, so that no process tries again.
    async fn mark_ended(&self, ended: LoginRecord) -> Result<(), LoginError> {
        let change = self.logins.shared.store.edit(move |contents| {
            // Another refresh token belongs to a new login, which has not ended.
            let same =
                |kept: &&mut LoginRecord| is_same(kept, &ended) && kept.refresh == ended.refresh;
            match contents.logins.iter_mut().find(same) {
                None => StoreChange::No,
                Some(kept) => {
                    kept.over = true;
                    kept.refresh = None;
                    StoreChange::Yes
                }
            }
        });
        change.await
    }

    /// Obtains a token with the client's own credentials. It is not stored, because a new one can
    /// be requested at any time.
    pub(crate) async fn grant_as_client(&self, challenge: &Challenge) -> Result<(), LoginError> {
        let settings = &self.server.oauth;
        let fetcher = self.logins.fetcher(&self.url, self.server.authorities.as_ref())?;
        let found = discover(&fetcher, &self.url, challenge, settings.issuer.as_deref()).await?;
        let client = configured_client(settings, &found.issuer)
            .ok_or_else(|| LoginError::NoClient { issuer: found.issuer.issuer.clone() })?;
        let scope = choose_scopes(ScopeSources {
            named: &settings.scopes,
            challenged: &challenge.scopes,
            resource_scopes: &found.scopes,
            ..ScopeSources::default()
        })
        .join(" ");
        let mut form =
            vec![("grant_type", "client_credentials"), ("resource", found.resource.as_str())];
        if !scope.is_empty() {
            form.push(("scope", &scope));
        }
        let tokens = request_tokens(&fetcher, &found.issuer.token, &client, &form).await?;
        self.set(CurrentToken::from_tokens(&tokens));
        Ok(())
    }

    /// Logs in through the visitor, if there is one; returns whether there is a new token.
    pub(crate) async fn visit(
        &self,
        challenge: Challenge,
        need: LoginNeed,
    ) -> Result<bool, LoginError> {
        // Hosts have no visitor by default: a server must not open pages on its own.
        let Some(visitor) = &self.logins.shared.visitor else { return Ok(false) };
        if need == LoginNeed::More {
            let kept = self.logins.find_record(&self.server, &self.url).await?;
            let asked = kept.map(|kept| kept.asked).unwrap_or_default();
            // All these scopes were requested before and not granted, so another login would not
            // help.
            if challenge.scopes.iter().all(|scope| asked.contains(scope)) {
                return Ok(false);
            }
        }
        {
            let mut visits = self.visits.lock();
            if *visits >= MAX_VISITS {
                return Ok(false);
            }
            *visits += 1;
        }
        let begin =
            self.logins.begin_after(&self.server, &self.url, challenge, visitor.redirect_uri());
        let pending = begin.await?;
        let answer = visitor.visit(pending.authorization_url()).await;
        pending.finish(&answer.map_err(LoginError::NotVisited)?).await?;
        let kept = self.logins.find_record(&self.server, &self.url).await?;
        self.set(kept.as_ref().map_or(CurrentToken::Nothing, CurrentToken::from_record));
        Ok(kept.is_some())
    }
}

fn is_same(kept: &LoginRecord, other: &LoginRecord) -> bool {
    kept.server == other.server && kept.url == other.url
}

fn is_final(code: &str) -> bool {
    // Other codes, such as `temporarily_unavailable`, and network errors leave the login alone.
    matches!(code, "invalid_grant" | "invalid_client" | "unauthorized_client")
}
