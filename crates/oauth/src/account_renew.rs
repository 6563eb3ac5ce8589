//! How an account comes to a new token: renewed, with the client's secret, or by a visitor.

use switchboard_config::Grant;

use crate::account::{Current, Inner, Need, lock};
use crate::challenge::Challenge;
use crate::client::Origin;
use crate::discover::discover;
use crate::error::LoginError;
use crate::grant::{Tokens, ask};
use crate::register::configured;
use crate::scopes::{Known, choose};
use crate::secret::Secret;
use crate::store::{Changed, Kept};

/// Logins that a visitor makes for one account.
const VISITS: u32 = 8;

impl Inner {
    /// Gets a new token for the one at hand. Processes take turns at it, and each looks first
    /// whether another has done it: a refresh token is good for one use.
    pub(crate) async fn renew(&self) -> Result<(), LoginError> {
        if self.server.oauth.grant == Grant::ClientCredentials {
            return self.ask_as_client(&Challenge::default()).await;
        }
        let store = &self.logins.shared.store;
        let Some(kept) = self.logins.kept(&self.server, &self.url).await? else {
            self.set(Current::Nothing);
            return Err(LoginError::Over);
        };
        let _turn = store.renewing(&kept).await?;
        let Some(kept) = self.logins.kept(&self.server, &self.url).await? else {
            self.set(Current::Nothing);
            return Err(LoginError::Over);
        };
        if kept.over {
            self.set(Current::Nothing);
            return Err(LoginError::Over);
        }
        let ours = match self.current() {
            Current::Token { access, .. } => Some(access),
            Current::Unread | Current::Nothing => None,
        };
        if ours.as_ref() != Some(&kept.access) {
            let theirs = Current::of_kept(&kept);
            let fresh = matches!(theirs.at_hand(), switchboard_wire::http::AtHand::Value(_));
            self.set(theirs);
            if fresh {
                return Ok(());
            }
        }
        let refresh = kept.refresh.clone().ok_or(LoginError::Over)?;
        match self.refresh(&kept, &refresh).await {
            Ok(tokens) => {
                self.set(Current::of_tokens(&tokens));
                self.keep(kept, tokens).await
            }
            Err(LoginError::Refused { code, .. }) if is_final(&code) => {
                self.set(Current::Nothing);
                self.end(kept).await?;
                Err(LoginError::Over)
            }
            Err(error) => Err(error),
        }
    }

    async fn refresh(&self, kept: &Kept, refresh: &Secret) -> Result<Tokens, LoginError> {
        let fetcher = self.logins.fetcher(&self.url, self.server.authorities.as_ref())?;
        let endpoint = fetcher.reach.check("the token endpoint", &kept.token_endpoint)?;
        let mut client = kept.client.clone();
        // A secret that was changed in the configuration holds from now on.
        let settings = &self.server.oauth;
        if client.origin == Origin::Configured && settings.client_id.as_ref() == Some(&client.id) {
            client.secret = settings.client_secret.as_deref().map(Secret::new);
        }
        let form = [
            ("grant_type", "refresh_token"),
            ("refresh_token", refresh.reveal()),
            ("resource", &kept.resource),
        ];
        ask(&fetcher, &endpoint, &client, &form).await
    }

    async fn keep(&self, renewed: Kept, tokens: Tokens) -> Result<(), LoginError> {
        let change = self.logins.shared.store.change(move |contents| {
            let Some(kept) = contents.logins.iter_mut().find(|kept| is_same(kept, &renewed)) else {
                // Somebody logged out meanwhile.
                return Changed::No;
            };
            kept.access = tokens.access;
            kept.ends = tokens.ends;
            kept.refresh = tokens.refresh.or(kept.refresh.take());
            kept.granted = tokens.scopes.or(kept.granted.take());
            kept.over = false;
            Changed::Yes
        });
        change.await
    }

    /// Remembers that a login cannot be renewed, so that nobody tries again.
    async fn end(&self, ended: Kept) -> Result<(), LoginError> {
        let change = self.logins.shared.store.change(move |contents| {
            let same = |kept: &&mut Kept| is_same(kept, &ended) && kept.refresh == ended.refresh;
            match contents.logins.iter_mut().find(same) {
                None => Changed::No,
                Some(kept) => {
                    kept.over = true;
                    kept.refresh = None;
                    Changed::Yes
                }
            }
        });
        change.await
    }

    /// Logs in with the client's own secret. Such a login is not kept: it can be had at any time.
    pub(crate) async fn ask_as_client(&self, challenge: &Challenge) -> Result<(), LoginError> {
        let settings = &self.server.oauth;
        let fetcher = self.logins.fetcher(&self.url, self.server.authorities.as_ref())?;
        let found = discover(&fetcher, &self.url, challenge, settings.issuer.as_deref()).await?;
        let client = configured(settings, &found.issuer)
            .ok_or_else(|| LoginError::NoClient { issuer: found.issuer.issuer.clone() })?;
        let scope = choose(Known {
            named: &settings.scopes,
            challenged: &challenge.scopes,
            of_server: &found.scopes,
            ..Known::default()
        })
        .join(" ");
        let mut form =
            vec![("grant_type", "client_credentials"), ("resource", found.resource.as_str())];
        if !scope.is_empty() {
            form.push(("scope", &scope));
        }
        let tokens = ask(&fetcher, &found.issuer.token, &client, &form).await?;
        self.set(Current::of_tokens(&tokens));
        Ok(())
    }

    /// Has the visitor log in, if there is one; says whether there is a new token.
    pub(crate) async fn visit(&self, challenge: Challenge, need: Need) -> Result<bool, LoginError> {
        let Some(visitor) = &self.logins.shared.visitor else { return Ok(false) };
        if need == Need::More {
            let kept = self.logins.kept(&self.server, &self.url).await?;
            let asked = kept.map(|kept| kept.asked).unwrap_or_default();
            // Who was asked for all of it before will not give more now.
            if challenge.scopes.iter().all(|scope| asked.contains(scope)) {
                return Ok(false);
            }
        }
        {
            let mut visits = lock(&self.visits);
            if *visits >= VISITS {
                return Ok(false);
            }
            *visits += 1;
        }
        let begin =
            self.logins.begin_after(&self.server, &self.url, challenge, visitor.redirect_uri());
        let pending = begin.await?;
        let answer = visitor.visit(pending.authorization_url()).await;
        pending.finish(&answer.map_err(LoginError::NotVisited)?).await?;
        let kept = self.logins.kept(&self.server, &self.url).await?;
        self.set(kept.as_ref().map_or(Current::Nothing, Current::of_kept));
        Ok(kept.is_some())
    }
}

fn is_same(kept: &Kept, other: &Kept) -> bool {
    kept.server == other.server && kept.url == other.url
}

/// Whether trying again cannot help.
fn is_final(code: &str) -> bool {
    matches!(code, "invalid_grant" | "invalid_client" | "unauthorized_client")
}
