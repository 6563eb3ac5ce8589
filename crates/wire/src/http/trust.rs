//! Whom TLS trusts beside the authorities of the system, and why a certificate is not trusted.

use std::error::Error;
use std::io;

use reqwest::Certificate;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{CertificateError, RootCertStore};

/// Authorities whose certificates are taken beside those that the system trusts.
#[derive(Clone, Debug, Default)]
pub struct Authorities(Vec<Certificate>);

/// Why a text does not name authorities.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadAuthorities {
    /// There is not one certificate in it.
    #[error("holds no certificate in PEM form")]
    None,
    /// One of its certificates is none.
    #[error("holds a certificate that cannot be read: {0}")]
    Unreadable(String),
}

/// Why a server's certificate is not trusted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Distrust {
    /// Its time is over.
    #[error("the server's certificate has expired")]
    Expired,
    /// Its time has not come.
    #[error("the server's certificate is not valid yet")]
    NotYetValid,
    /// It is somebody else's.
    #[error("the server's certificate is for another name{}", name_list(.0))]
    OtherName(Vec<String>),
    /// Nobody whom we trust stands by it.
    #[error("the server's certificate was issued by nobody that this machine trusts")]
    UnknownIssuer,
    /// It was taken back.
    #[error("the server's certificate has been revoked")]
    Revoked,
    /// Something else is wrong with it.
    #[error("the server's certificate cannot be trusted: {0}")]
    Other(String),
}

impl Authorities {
    /// Reads certificates out of a text in PEM form.
    ///
    /// # Errors
    /// When there is none, or one that cannot be used.
    pub fn from_pem(text: &str) -> Result<Self, BadAuthorities> {
        let unreadable = |error: &dyn Error| BadAuthorities::Unreadable(error.to_string());
        let mut certificates = Vec::new();
        for found in CertificateDer::pem_slice_iter(text.as_bytes()) {
            let found = found.map_err(|error| unreadable(&error))?;
            RootCertStore::empty().add(found.clone()).map_err(|error| unreadable(&error))?;
            certificates.push(Certificate::from_der(&found).map_err(|error| unreadable(&error))?);
        }
        if certificates.is_empty() { Err(BadAuthorities::None) } else { Ok(Self(certificates)) }
    }

    /// The certificates, for a client.
    #[must_use]
    pub fn certificates(&self) -> Vec<Certificate> {
        self.0.clone()
    }
}

impl Distrust {
    /// Why the other side's certificate was not taken, if that is what went wrong.
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
            // Who bears the name of an authority without its key is not that authority.
            CertificateError::UnknownIssuer | CertificateError::BadSignature => Self::UnknownIssuer,
            CertificateError::Revoked => Self::Revoked,
            other => Self::Other(other.to_string()),
        })
    }
}

/// The first cause of a kind.
pub(super) fn find_cause<'a, T: Error + 'static>(
    error: &'a (dyn Error + 'static),
) -> Option<&'a T> {
    let mut next = Some(error);
    while let Some(cause) = next {
        if let Some(found) = cause.downcast_ref() {
            return Some(found);
        }
        // An error of the system does not name what it holds as its cause.
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
    // A certificate may name hundreds.
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
            ("", "holds no certificate in PEM form"),
            ("hello\n", "holds no certificate in PEM form"),
            (broken.as_str(), "holds a certificate that cannot be read"),
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
