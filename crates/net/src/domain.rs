//! Registrable domains, and suffixes that several owners share.

/// Suffixes below which names belong to different owners.
// Only common ones, not the public suffix list: below a suffix that is missing here, the domains of
// two owners count as one.
const SHARED_SUFFIXES: &str = "\
    ac.uk co.uk gov.uk org.uk com.au net.au org.au co.nz co.jp ne.jp or.jp co.kr co.in co.il co.za \
    com.ar com.br com.cn com.hk com.mx com.sg com.tr com.tw \
    amazonaws.com s3.amazonaws.com appspot.com azurewebsites.net blogspot.com cloudfront.net \
    firebaseapp.com fly.dev github.io gitlab.io herokuapp.com hf.space netlify.app ngrok.app \
    ngrok.io ngrok-free.app onrender.com pages.dev r2.dev run.app vercel.app web.app workers.dev";

/// Returns whether a domain, in lower case, is a shared suffix.
pub fn is_shared_suffix(domain: &str) -> bool {
    SHARED_SUFFIXES.split_ascii_whitespace().any(|suffix| suffix == domain)
}

/// Returns whether a host is a domain or a subdomain of it.
pub fn is_below(host: &str, domain: &str) -> bool {
    // The dot matters: `evilexample.com` ends with `example.com`, but is another domain.
    host == domain
        || host.strip_suffix(domain).is_some_and(|before| before.ends_with('.') && before.len() > 1)
}

/// Returns the registrable domain of a host name: one label and a shared suffix or a single label.
pub fn registrable_domain(host: &str) -> &str {
    let suffixes = SHARED_SUFFIXES.split_ascii_whitespace();
    let dots = suffixes.filter(|suffix| is_below(host, suffix)).map(|s| s.matches('.').count());
    let start = host.rmatch_indices('.').nth(dots.max().unwrap_or(0) + 1);
    start.and_then(|(dot, _)| host.get(dot + 1..)).unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_domain_has_one_label_more_than_its_suffix() {
        for (host, domain) in [
            ("example.org", "example.org"),
            ("login.example.org", "example.org"),
            ("shop.example.co.uk", "example.co.uk"),
            ("a.somebody.github.io", "somebody.github.io"),
            ("a.bucket.s3.amazonaws.com", "bucket.s3.amazonaws.com"),
            ("notgithub.io", "notgithub.io"),
            ("github.io", "github.io"),
            ("localhost", "localhost"),
        ] {
            assert_eq!(registrable_domain(host), domain);
        }
        assert!(is_shared_suffix("co.uk") && !is_shared_suffix("example.org"));
        assert!(!is_below(".github.com", "github.com"));
    }
}
