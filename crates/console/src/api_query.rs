//! The query of a request to the API; one that cannot be read is refused like everything else.

use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::reply::ApiError;

/// What a query says.
pub(crate) struct ApiQuery<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Sync> FromRequestParts<S> for ApiQuery<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        match Query::try_from_uri(&parts.uri) {
            Ok(Query(asked)) => Ok(Self(asked)),
            Err(refused) => {
                let text = refused.body_text();
                let why = text.strip_prefix("Failed to deserialize query string: ");
                let why = why.unwrap_or(&text);
                Err(ApiError::unprocessable(format!("the query cannot be read: {why}")))
            }
        }
    }
}
