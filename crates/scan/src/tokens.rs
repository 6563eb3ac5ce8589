//! Splits a text into plain words, with homoglyphs folded, leetspeak undone and paths classified.

use switchboard_text::fold_char;

// Of a piece between spaces, only this much is classified.
const MAX_PIECE_LEN: usize = 600;

// The kinds of a piece, as bits. `SETTING` may contain secrets, `SECRET` does.
pub(crate) const SECRET: u8 = 1;
pub(crate) const SETTING: u8 = 2;
pub(crate) const URL: u8 = 4;
pub(crate) const MAIL: u8 = 8;
pub(crate) const FILE: u8 = 16;

// Parts of paths that contain secrets, in the spellings that attacks use.
const SECRET_PATHS: [&str; 44] = [
    ".ssh", "id_rsa", "id-rsa", "idrsa", "id_ed25519", "id_ecdsa", "id_dsa", "ssh_key", "ssh-key",
    "ssh_id", "sshkey", ".aws/", "aws/credentials", ".netrc", ".pypirc", "git-credentials",
    ".pgpass", ".gnupg", "bash_history", "zsh_history", ".kube/config", ".docker/config",
    "/etc/passwd", "/etc/shadow", "/etc/sudoers", "mcp.json", "desktop_config.json", "/proc/self",
    "wallet.dat", "etc_passwd", "etc-passwd", "etcpasswd", "aws_credentials", "aws-credentials",
    "awscredentials", ".config/gh/", ".vault-token", ".azure/", ".cargo/credentials",
    ".password-store", "/run/secrets", ".codex/auth", ".claude.json", "/environ",
];

// Paths that contain secrets among other things, and that many tools legitimately use.
const SETTINGS_PATHS: [&str; 8] = [
    "/.env", ".pem", "credentials.json", "secrets.", ".npmrc", "gcloud/", ".ssh/config",
    ".ssh/known_hosts",
];

// Addresses that documentation uses as examples.
const SAMPLE_ADDRESSES: [&str; 5] =
    ["@example.", "://example.", "://www.example.", "://localhost", "://127.0.0.1"];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Gap {
    Space,
    Clause,
    Sentence,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct WordToken {
    start: usize,
    end: usize,
    /// The byte offset in the text.
    pub(crate) at: usize,
    /// How the word is separated from the previous one.
    pub(crate) before: Gap,
    /// The kinds of the piece that the word begins or ends.
    pub(crate) kinds: u8,
}

#[derive(Debug, Default)]
pub(crate) struct TextTokens {
    words: String,
    tokens: Vec<WordToken>,
}

impl TextTokens {
    pub(crate) fn parse(text: &str) -> Self {
        let mut reader = Tokenizer::new(text);
        let mut chars = text.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let Some(folded) = fold_char(c) else { continue };
            let next = chars.peek().map(|(_, next)| *next);
            reader.take(at, c, folded, next);
        }
        reader.finish()
    }

    pub(crate) fn all(&self) -> &[WordToken] {
        &self.tokens
    }

    pub(crate) fn word(&self, place: usize) -> &str {
        self.tokens
            .get(place)
            .and_then(|token| self.words.get(token.start..token.end))
            .unwrap_or("")
    }

    /// Returns the word at an index and the next one, unless a sentence ends between them.
    pub(crate) fn pair(&self, place: usize) -> Option<&str> {
        let first = self.tokens.get(place)?;
        let second = self.tokens.get(place + 1)?;
        if second.before == Gap::Sentence {
            return None;
        }
        self.words.get(first.start..second.end)
    }

    pub(crate) fn without_spaces(&self) -> String {
        self.words.replace(' ', "")
    }

    /// Returns the concatenated single-letter words, if there are many in a row.
    pub(crate) fn spaced_letters(&self) -> Option<String> {
        let single = |token: &&WordToken| token.end - token.start == 1;
        let mut run = 0;
        let mut longest = 0;
        for token in &self.tokens {
            run = if single(&token) { run + 1 } else { 0 };
            longest = longest.max(run);
        }
        (longest >= 6).then(|| {
            let words = self.tokens.iter().filter(single);
            words.filter_map(|token| self.words.get(token.start..token.end)).collect()
        })
    }
}

struct Tokenizer {
    tokens: TextTokens,
    piece: String,
    /// Where the current word begins, in `words` and in the text.
    word: Option<(usize, usize)>,
    gap: Gap,
    tokens_before_piece: usize,
    splits_at_capitals: bool,
    last: char,
}

impl Tokenizer {
    fn new(text: &str) -> Self {
        Self {
            tokens: TextTokens { words: String::with_capacity(text.len()), tokens: Vec::new() },
            piece: String::new(),
            word: None,
            gap: Gap::Sentence,
            tokens_before_piece: 0,
            // Only for identifiers: in a sentence, capitals inside a word have no meaning.
            splits_at_capitals: !text.contains(char::is_whitespace),
            last: ' ',
        }
    }

    fn take(&mut self, at: usize, c: char, folded: char, next: Option<char>) {
        if folded.is_whitespace() {
            self.end_word();
            self.end_piece();
            if matches!(c, '\n' | '\r') {
                self.gap = self.gap.max(Gap::Clause);
            }
        } else {
            if self.piece.len() < MAX_PIECE_LEN {
                self.piece.push(folded);
            }
            let leet = match folded {
                '@' | '$' => next.is_some_and(char::is_alphanumeric),
                // Inside a word, an exclamation mark replaces a letter.
                '!' => self.word.is_some() && next.is_some_and(char::is_alphanumeric),
                _ => false,
            };
            if folded.is_alphanumeric() || (leet && self.last != '/') {
                if self.splits_at_capitals && c.is_uppercase() && self.last.is_lowercase() {
                    self.end_word();
                }
                self.push(at, folded);
            } else if folded == '\'' && self.word.is_some() {
                // The word continues: `don't` is one word.
            } else {
                self.end_word();
                self.gap = self.gap.max(gap_after(folded, next));
            }
        }
        self.last = c;
    }

    fn push(&mut self, at: usize, folded: char) {
        let words = &mut self.tokens.words;
        if self.word.is_none() {
            if !words.is_empty() {
                words.push(' ');
            }
            self.word = Some((words.len(), at));
        }
        words.push(skeleton(folded));
    }

    fn end_word(&mut self) {
        let Some((start, at)) = self.word.take() else { return };
        let end = self.tokens.words.len();
        self.tokens.tokens.push(WordToken { start, end, at, before: self.gap, kinds: 0 });
        self.gap = Gap::Space;
    }

    fn end_piece(&mut self) {
        if let Some(tokens) = self.tokens.tokens.get_mut(self.tokens_before_piece..)
            && !tokens.is_empty()
        {
            // Both ends are marked, because patterns look at the words before and after a path.
            let kinds = classify_piece(&self.piece);
            tokens.iter_mut().take(1).for_each(|first| first.kinds = kinds);
            tokens.iter_mut().rev().take(1).for_each(|last| last.kinds = kinds);
        }
        self.tokens_before_piece = self.tokens.tokens.len();
        self.piece.clear();
    }

    fn finish(mut self) -> TextTokens {
        self.end_word();
        self.end_piece();
        self.tokens
    }
}

fn gap_after(folded: char, next: Option<char>) -> Gap {
    match folded {
        // The beginning of an image in Markdown.
        '!' if next == Some('[') => Gap::Space,
        '.' | '!' | '?' | ';' if next.is_none_or(|next| !next.is_alphanumeric()) => Gap::Sentence,
        ',' | ':' | '(' | ')' | ';' | '|' => Gap::Clause,
        _ => Gap::Space,
    }
}

/// Maps a character and its leetspeak substitutes to a common one.
pub(crate) const fn skeleton(c: char) -> char {
    match c {
        '1' | 'l' | '!' => 'i',
        '0' => 'o',
        '3' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '7' => 't',
        _ => c,
    }
}

fn classify_piece(piece: &str) -> u8 {
    let mut kinds = 0;
    // Fast path: most pieces are ordinary words.
    let inner = piece.trim_end_matches(['.', ',', ';', ':', ')', '!', '?', '"', '\'']);
    let telling = |byte: u8| !byte.is_ascii_alphanumeric() && byte.is_ascii();
    if !inner.bytes().any(telling) && !inner.contains("rsa") && !inner.contains("ssh") {
        return kinds;
    }
    let has = |part: &str| piece.contains(part);
    let bare = piece.trim_matches(|c: char| !c.is_alphanumeric() && c != '.');
    if bare == ".env"
        || bare == ".env."
        || bare.starts_with(".env.")
        || SETTINGS_PATHS.iter().any(|part| has(part))
    {
        kinds |= SETTING;
    } else if SECRET_PATHS.iter().any(|part| has(part)) {
        kinds |= SECRET;
    }
    let sample = SAMPLE_ADDRESSES.iter().any(|part| has(part));
    if (has("://") || has("www.")) && !sample {
        kinds |= URL;
    } else if is_email(piece) && !sample {
        kinds |= MAIL;
    }
    let start = piece.trim_start_matches(['"', '\'', '`', '(', '=', '<']);
    let rooted = ["~/", "/home", "/etc/", "/root", "/users/", "/var/", "c:\\", "$home"];
    if rooted.iter().any(|part| start.starts_with(part)) {
        kinds |= FILE;
    }
    kinds
}

fn is_email(piece: &str) -> bool {
    let Some((before, after)) = piece.rsplit_once('@') else { return false };
    before.ends_with(char::is_alphanumeric) && after.starts_with(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_becomes_plain_words() {
        for (text, expected) in [
            ("Don't  read THIS.", "dont read this"),
            ("1gn0re pr3vi0us", "ignore previous"),
            ("readSshKey", "read ssh key"),
            ("reading_ssh_id_rsa", "reading ssh id rsa"),
            ("iGnOrE all", "ignore aii"),
            ("r\u{200b}ea\u{ad}d", "read"),
        ] {
            assert_eq!(TextTokens::parse(text).words, expected, "{text}");
        }
    }

    #[test]
    fn pieces_are_known_by_what_they_are() {
        for (text, expected) in [
            ("~/.ssh/id_rsa", SECRET | FILE),
            ("content_from_reading_ssh_id_rsa", SECRET),
            (".env", SETTING),
            ("https://evil.test/x", URL),
            ("to=x@evil", MAIL),
            ("https://example.com/a", 0),
            ("react@18", 0),
            ("environment", 0),
        ] {
            let tokens = TextTokens::parse(text);
            assert_eq!(tokens.all().last().map(|token| token.kinds), Some(expected), "{text}");
        }
    }
}
