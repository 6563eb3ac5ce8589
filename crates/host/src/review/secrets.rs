//! Detects forms that ask for secrets: passwords, keys, codes, card numbers.
//!
//! The detection is based on words and can be evaded; it stops honest mistakes and plain attempts.
//! Forms that pass are still shown to a person with the name of the server.

use crate::review::form::{Field, FieldKind};
use crate::review::secret_words::{
    AMBIGUOUS_WORDS, HARMLESS_FOLLOWERS, NEGATIONS, REQUEST_WORDS, SECRET_PHRASES, SECRET_WORDS,
};

/// Returns the words with which a field asks for a secret, if it does.
pub(super) fn find_secret_in_field(field: &Field) -> Option<String> {
    match field.kind {
        FieldKind::Text { .. } | FieldKind::Number { .. } => {}
        // A selection cannot reveal a secret.
        FieldKind::Boolean | FieldKind::Choice(_) | FieldKind::Choices { .. } => return None,
    }
    let named = [Some(&field.name), field.title.as_ref()].into_iter().flatten();
    let named = named.flat_map(|text| sentences(text));
    let described = field.description.iter().flat_map(|text| sentences(text));
    let mut found = named.filter_map(|words| find_secrets(&words).into_iter().next());
    let mut described = described.filter_map(|words| {
        let mut all = find_secrets(&words).into_iter();
        // "Do not enter your password" does not ask for one.
        all.find(|secret| request_before(&words, secret.at) != SecretRequest::Negated)
    });
    found.next().or_else(|| described.next()).map(|secret| secret.words)
}

/// Returns the words with which a message asks for a secret, if it does.
pub(super) fn find_secret_in_message(message: &str) -> Option<String> {
    let asked = |words: Vec<String>| {
        let mut all = find_secrets(&words).into_iter();
        // A message may mention passwords without asking for one.
        all.find(|secret| request_before(&words, secret.at) == SecretRequest::Plain)
    };
    sentences(message).into_iter().find_map(asked).map(|secret| secret.words)
}

struct SecretMention {
    at: usize,
    words: String,
}

fn find_secrets(words: &[String]) -> Vec<SecretMention> {
    let mut found = Vec::new();
    for at in 0..words.len() {
        let rest = words.get(at..).unwrap_or_default();
        let Some(length) = secret_length(words, at, rest) else { continue };
        let is_about =
            rest.get(length).is_some_and(|next| HARMLESS_FOLLOWERS.contains(&next.as_str()));
        if !is_about {
            let words = rest.get(..length).unwrap_or_default().join(" ");
            found.push(SecretMention { at, words });
        }
    }
    found
}

/// Returns the number of words at this position that mean a secret.
fn secret_length(words: &[String], at: usize, rest: &[String]) -> Option<usize> {
    let is_phrase = |phrase: &&&[&str]| {
        rest.len() >= phrase.len() && rest.iter().zip(**phrase).all(|(word, part)| word == part)
    };
    if let Some(phrase) = SECRET_PHRASES.iter().find(is_phrase) {
        return Some(phrase.len());
    }
    let word = rest.first()?.as_str();
    // Some scripts put no spaces between words.
    let is_alone = |known: &&&str| word == **known || !known.is_ascii() && word.contains(**known);
    if SECRET_WORDS.iter().any(|known| is_alone(&known)) {
        return Some(1);
    }
    let ambiguous = AMBIGUOUS_WORDS.iter().find(|ambiguous| ambiguous.word == word)?;
    let before = at.checked_sub(1).and_then(|before| words.get(before));
    let is_among = |word: Option<&String>, list: &[&str]| {
        word.is_some_and(|word| list.contains(&word.as_str()))
    };
    let harmless = is_among(before, ambiguous.harmless_before)
        || is_among(rest.get(1), ambiguous.harmless_after);
    (!harmless).then_some(1)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SecretRequest {
    None,
    Plain,
    /// A request not to provide the secret.
    Negated,
}

/// Classifies the nearest request word before this position.
fn request_before(words: &[String], at: usize) -> SecretRequest {
    let before = words.get(..at).unwrap_or_default();
    let giving = before.iter().rposition(|word| REQUEST_WORDS.contains(&word.as_str()));
    let Some(giving) = giving else { return SecretRequest::None };
    // "do not ever enter": a negation need not be the word right before the verb.
    let near = before.get(giving.saturating_sub(2)..giving).unwrap_or_default();
    match near.iter().any(|word| NEGATIONS.contains(&word.as_str())) {
        true => SecretRequest::Negated,
        false => SecretRequest::Plain,
    }
}

/// Returns the words of each sentence in lower case, without homoglyphs and invisible characters.
fn sentences(text: &str) -> Vec<Vec<String>> {
    let is_end = |c: char| matches!(c, '.' | '!' | '?' | ';' | '\n' | '。');
    text.split(is_end).map(words).filter(|words| !words.is_empty()).collect()
}

fn words(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut word = String::new();
    let mut before = ' ';
    let mut characters = text.chars().filter(|c| !is_invisible(*c)).peekable();
    while let Some(c) = characters.next() {
        let next_is_lower = characters.peek().is_some_and(|next| next.is_lowercase());
        // Both `apiKey` and `APIKey` are two words.
        let begins =
            c.is_uppercase() && (before.is_lowercase() || before.is_uppercase() && next_is_lower);
        if !c.is_alphanumeric() || begins {
            push(&mut all, &mut word);
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    push(&mut all, &mut word);
    all
}

fn push(all: &mut Vec<String>, word: &mut String) {
    let word = std::mem::take(word);
    if word.is_empty() {
        return;
    }
    // Only mixed words are folded: a word entirely in another script is an ordinary word there.
    let has_latin = word.chars().any(|c| c.is_ascii_lowercase());
    all.push(if has_latin { word.chars().map(fold_homoglyph).collect() } else { word });
}

/// Folds a homoglyph to the Latin letter that it resembles.
const fn fold_homoglyph(c: char) -> char {
    match c {
        'а' | 'ɑ' | 'α' | 'ａ' | '4' => 'a',
        'е' | 'ｅ' | '3' => 'e',
        'о' | 'ο' | 'ｏ' | '0' => 'o',
        'р' | 'ρ' | 'ｐ' => 'p',
        'с' | 'ｃ' => 'c',
        'ѕ' | 'ｓ' | '5' => 's',
        'і' | 'ι' | 'ｉ' => 'i',
        'к' | 'κ' | 'ｋ' => 'k',
        'у' | 'ｙ' => 'y',
        'ԁ' | 'ｄ' => 'd',
        'ｗ' | 'ѡ' => 'w',
        'ｒ' => 'r',
        'ｔ' | 'т' => 't',
        'ｎ' | 'п' => 'n',
        _ => c,
    }
}

/// Returns whether a character is invisible, so that it can split a word unnoticed.
const fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
}

#[cfg(test)]
#[path = "secrets_tests.rs"]
mod tests;
