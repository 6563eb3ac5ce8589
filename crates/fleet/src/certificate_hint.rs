//! What to do about a server whose certificate is not trusted.

use switchboard_wire::http::Distrust;

/// The next step for whoever meets a certificate that is not trusted.
pub const fn untrusted_hint(why: &Distrust) -> &'static str {
    match why {
        Distrust::Expired | Distrust::NotYetValid => {
            "check the clock of this machine; otherwise the server needs another certificate"
        }
        Distrust::OtherName(_) => "check the name in the server's `url`",
        Distrust::UnknownIssuer => {
            "if your organisation issued it, name a file with the issuer's certificate as `caFile`, \
             or add it to what this machine trusts (on Linux also by `SSL_CERT_FILE`)"
        }
        Distrust::Revoked | Distrust::Other(_) => "the server needs another certificate",
    }
}
