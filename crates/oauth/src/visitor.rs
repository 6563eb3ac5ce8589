//! Who visits the authorization page on behalf of a face that has agreed to that beforehand.

use std::pin::Pin;

/// What a [`Visitor`] is doing.
pub type VisitFuture<'a> = Pin<Box<dyn Future<Output = Result<String, String>> + Send + 'a>>;

/// Logs in without a command, whenever a server asks for it. Nobody does by default.
pub trait Visitor: Send + Sync {
    /// Where answers are to be sent.
    fn redirect_uri(&self) -> String;

    /// Visits an authorization page and gives the address that its answer was sent to.
    fn visit<'a>(&'a self, authorization_url: &'a str) -> VisitFuture<'a>;
}
