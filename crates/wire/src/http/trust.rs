//! Additional certificate authorities, and the reasons why a certificate is not trusted.

use std::error::Error;
use std::io;

use reqwest::Certificate;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{CertificateError, RootCertStore};

/// Certificate authorities trusted in addition to those of the system.
#[derive(Clone, Debug, Default)]
pub struct Authorities(Vec<Certificate>);

/// The reason why a text contains no usable certificate authorities.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadAuthorities {
    #[error("contains no certificate in PEM format")]
    None,
    #[error("contains an invalid certificate: {0}")]
    Unreadable(String),
}

/// The reason why a server's certificate is not trusted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Distrust {
    #[error("the server's certificate has expired")]
    Expired,
    #[error("the server's certificate is not valid yet")]
    NotYetValid,
    #[error("the server's certificate is for another name{}", name_list(.0))]
    OtherName(Vec<String>),
    #[error("the server's certificate was issued by an authority that this machine does not trust")]
    UnknownIssuer,
    #[error("the server's certificate has been revoked")]
    Revoked,
    #[error("the server's certificate cannot be trusted: {0}")]
    Other(String),
}

impl Authorities {
    /// Parses certificates in PEM format; at least one, and all of them valid.
    pub fn from_pem(text: &str) -> Result<Self, BadAuthorities> {
        let unreadable = |error: &dyn Error| BadAuthorities::Unreadable(error.to_string());
        let mut certificates = Vec::new();
        for found in CertificateDer::pem_slice_iter(text.as_bytes()) {
            let found = found.map_err(|error| unreadable(&error))?;
            // The HTTP client would report a bad certificate only with its first connection.
            RootCertStore::empty().add(found.clone()).map_err(|error| unreadable(&error))?;
            certificates.push(Certificate::from_der(&found).map_err(|error| unreadable(&error))?);
        }
        if certificates.is_empty() { Err(BadAuthorities::None) } else { Ok(Self(certificates)) }
    }

    /// Returns the certificates as the HTTP client takes them.
    #[must_use]
    pub fn certificates(&self) -> Vec<Certificate> {
        self.0.clone()
    }
}

impl Distrust {
    /// Returns why the server's certificate was rejected, if that caused `error`.
    #[must_use]
    pub fn from_error(error: &(dyn Error + 'static)) -> Option<Self> {
        let rustls::Error::InvalidCertificate(reason) = find_cause::<rustls::Error>(error)? else {
            return None;
        };
        Some(match reason {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => Self::Expired,
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                Self::NotYetValid
            }
            CertificateError::NotValidForName => Self::OtherName(Vec::new()),
            CertificateError::NotValidForNameContext { presented, .. } => {
                Self::OtherName(presented.clone())
            }
            // A bad signature means that the issuer has an authority's name but not its key.
            CertificateError::UnknownIssuer | CertificateError::BadSignature => Self::UnknownIssuer,
            CertificateError::Revoked => Self::Revoked,
            other => Self::Other(other.to_string()),
        })
    }
}

/// Returns the first cause of type `T`.
pub(super) fn find_cause<'a, T: Error + 'static>(
    error: &'a (dyn Error + 'static),
) -> Option<&'a T> {
    let mut next = Some(error);
    while let Some(cause) = next {
        if let Some(found) = cause.downcast_ref() {
            return Some(found);
        }
        // `io::Error::source` skips the wrapped error itself.
        if let Some(inside) = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref)
            && let Some(found) = find_cause(inside)
        {
            return Some(found);
        }
        next = cause.source();
    }
    None
}

fn name_list(names: &[String]) -> String {
    // A certificate may contain hundreds of names.
    let names: Vec<_> = names.iter().take(3).map(|name| format!("`{name}`")).collect();
    if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_without_a_certificate_names_nobody() {
        let end = "-----END CERTIFICATE-----\n";
        let broken = format!("-----BEGIN CERTIFICATE-----\nAAAA\n{end}");
        for (text, expected) in [
            ("", "contains no certificate in PEM format"),
            ("hello\n", "contains no certificate in PEM format"),
            (broken.as_str(), "contains an invalid certificate"),
        ] {
            let told = Authorities::from_pem(text).unwrap_err().to_string();
            assert!(told.starts_with(expected), "{text:?}: {told}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_certificate_is_found_inside_errors_of_the_system() {
        let reasons = [
            (CertificateError::Expired, Distrust::Expired),
            (CertificateError::NotValidYet, Distrust::NotYetValid),
            (CertificateError::NotValidForName, Distrust::OtherName(Vec::new())),
            (CertificateError::UnknownIssuer, Distrust::UnknownIssuer),
            (CertificateError::BadSignature, Distrust::UnknownIssuer),
            (CertificateError::Revoked, Distrust::Revoked),
        ];
        for (reason, expected) in reasons {
            let tls = rustls::Error::InvalidCertificate(reason);
            let error = io::Error::other(io::Error::other(tls));
            assert_eq!(Distrust::from_error(&error), Some(expected));
        }
        assert_eq!(Distrust::from_error(&io::Error::other("something else")), None);
    }
}
