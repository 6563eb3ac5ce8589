//! A certificate authority for one test, and the server certificates that it issues.

use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose,
    date_time_ymd,
};
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// A certificate authority. A client that trusts it accepts the certificates that it issues.
pub struct TestAuthority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

/// A server's certificate chain and private key.
#[derive(Clone)]
pub struct ServerCertificate {
    chain: Vec<CertificateDer<'static>>,
    key: Arc<[u8]>,
}

/// The validity period of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Validity {
    Long,
    Over,
    NotYet,
}

impl Default for TestAuthority {
    fn default() -> Self {
        Self::new()
    }
}

impl TestAuthority {
    /// Creates an authority with a self-signed root certificate.
    pub fn new() -> Self {
        let mut params = parameters(&[], Validity::Long);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        params.distinguished_name.push(DnType::CommonName, "Authority of a test");
        let issuer = CertifiedIssuer::self_signed(params, new_key());
        Self { issuer: issuer.expect("an authority can sign itself") }
    }

    /// Returns the root certificate as PEM, for a client's trust store.
    pub fn pem(&self) -> String {
        self.issuer.pem()
    }

    /// Issues a certificate for a server with these host names or IP addresses.
    pub fn issue(&self, names: &[&str], validity: Validity) -> ServerCertificate {
        let key = new_key();
        let issued = parameters(names, validity).signed_by(&key, &self.issuer);
        let issued = issued.expect("an authority can sign for others");
        ServerCertificate { chain: vec![issued.der().clone()], key: key.serialize_der().into() }
    }
}

impl ServerCertificate {
    /// Creates a self-signed certificate, which no authority vouches for.
    pub fn self_signed(names: &[&str]) -> Self {
        let key = new_key();
        let made = parameters(names, Validity::Long).self_signed(&key);
        let made = made.expect("a server can sign for itself");
        Self { chain: vec![made.der().clone()], key: key.serialize_der().into() }
    }

    /// Returns a TLS server configuration with this certificate and these ALPN protocols.
    pub(crate) fn server(&self, protocols: &[&str]) -> Arc<ServerConfig> {
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(self.key.to_vec()));
        let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .expect("the usual versions of TLS are there")
            .with_no_client_auth()
            .with_single_cert(self.chain.clone(), key)
            .expect("the key belongs to the certificate");
        config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        Arc::new(config)
    }
}

fn new_key() -> KeyPair {
    KeyPair::generate().expect("there is randomness for a key")
}

fn parameters(names: &[&str], validity: Validity) -> CertificateParams {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut params = CertificateParams::new(names).expect("the names of a test are names");
    let (from, until) = match validity {
        Validity::Long => ((2020, 1, 1), (2090, 1, 1)),
        Validity::Over => ((2019, 1, 1), (2020, 1, 1)),
        Validity::NotYet => ((2089, 1, 1), (2090, 1, 1)),
    };
    params.not_before = date_time_ymd(from.0, from.1, from.2);
    params.not_after = date_time_ymd(until.0, until.1, until.2);
    params
}
