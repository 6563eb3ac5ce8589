//! Words that identify a request for a secret, and words that make them harmless.

/// Words that always mean a secret.
pub(super) const SECRET_WORDS: &[&str] = &[
    "password", "passwords", "passwd", "passphrase", "passphrases", "passcode", "pwd", "otp",
    "totp", "cvv", "cvv2", "cvc", "apikey", "apikeys", "apitoken", "authtoken", "accesstoken",
    "privatekey", "secretkey", "mnemonic", "passwort", "kennwort", "contraseña", "contrasena",
    "senha", "пароль", "密码", "密碼", "パスワード", "비밀번호",
];

/// Sequences of words that mean a secret.
pub(super) const SECRET_PHRASES: &[&[&str]] = &[
    &["api", "key"],
    &["api", "keys"],
    &["api", "token"],
    &["api", "tokens"],
    &["access", "key"],
    &["access", "token"],
    &["access", "tokens"],
    &["auth", "token"],
    &["auth", "tokens"],
    &["auth", "code"],
    &["authentication", "code"],
    &["authenticator", "code"],
    &["bearer", "token"],
    &["refresh", "token"],
    &["session", "token"],
    &["secret", "key"],
    &["private", "key"],
    &["private", "keys"],
    &["signing", "key"],
    &["encryption", "key"],
    &["ssh", "key"],
    &["one", "time", "code"],
    &["one", "time", "pass"],
    &["onetime", "code"],
    &["2fa", "code"],
    &["mfa", "code"],
    &["sms", "code"],
    &["verification", "code"],
    &["security", "code"],
    &["backup", "code"],
    &["backup", "codes"],
    &["recovery", "code"],
    &["recovery", "codes"],
    &["recovery", "phrase"],
    &["recovery", "words"],
    &["seed", "phrase"],
    &["seed", "words"],
    &["wallet", "seed"],
    &["pass", "phrase"],
    &["pass", "word"],
    &["credit", "card"],
    &["debit", "card"],
    &["card", "number"],
    &["card", "verification"],
    &["mot", "de", "passe"],
];

/// A word that means a secret unless certain words precede or follow it.
pub(super) struct AmbiguousWord {
    pub(super) word: &'static str,
    pub(super) harmless_before: &'static [&'static str],
    pub(super) harmless_after: &'static [&'static str],
}

pub(super) const AMBIGUOUS_WORDS: &[AmbiguousWord] = &[
    AmbiguousWord {
        word: "secret",
        harmless_before: &["no", "top"],
        harmless_after: &["santa", "ingredient", "scanning", "level", "to", "of"],
    },
    AmbiguousWord {
        word: "secrets",
        harmless_before: &["no"],
        harmless_after: &["scanning", "manager", "store", "to", "of"],
    },
    AmbiguousWord {
        word: "token",
        harmless_before: &["max", "per", "nft", "erc20", "next", "page", "continuation", "stop"],
        harmless_after: &[
            "budget", "usage", "symbol", "price", "address", "supply", "amount", "standard",
            "contract", "balance", "window", "ring", "based", "per",
        ],
    },
    AmbiguousWord {
        word: "pin",
        harmless_before: &[
            "map", "gpio", "push", "drop", "to", "led", "board", "input", "output", "digital",
            "analog", "postal", "reset", "safety", "lapel", "bowling",
        ],
        harmless_after: &[
            "location", "colour", "color", "message", "to", "the", "this", "it", "post", "board",
            "up", "down", "on", "in", "at", "position", "mode", "map", "label", "comment", "issue",
        ],
    },
];

/// Words after which a secret is only described: "password length" is not a request for one.
pub(super) const HARMLESS_FOLLOWERS: &[&str] = &[
    "age", "algorithm", "count", "counts", "duration", "expiration", "expiry", "expires", "file",
    "filename", "folder", "format", "hash", "id", "ids", "interval", "kind", "length", "lifetime",
    "limit", "limits", "location", "manager", "method", "name", "names", "path", "policy", "reset",
    "rotation", "rules", "scope", "scopes", "size", "strength", "ttl", "type", "types", "vault",
];

/// Verbs that request something from the reader.
pub(super) const REQUEST_WORDS: &[&str] = &[
    "add", "confirm", "enter", "fill", "give", "include", "input", "paste", "provide", "put",
    "reply", "reveal", "send", "share", "specify", "submit", "supply", "tell", "type", "write",
];

/// Words that negate such a request.
pub(super) const NEGATIONS: &[&str] =
    &["not", "never", "don", "dont", "cannot", "without", "avoid"];
