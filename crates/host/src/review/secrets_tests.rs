//! Tests of fields and messages that ask for secrets, and of harmless ones that resemble them.

use serde_json::json;
use serde_json::value::RawValue;

use super::{find_secret_in_field, find_secret_in_message, words};
use crate::review::form::Form;

fn secret(name: &str, title: &str, description: &str, kind: &str) -> Option<String> {
    let field = json!({"type": kind, "title": title, "description": description});
    let schema = json!({"properties": {name: field}}).to_string();
    let form = Form::parse(&RawValue::from_string(schema).unwrap()).unwrap();
    form.fields.first().and_then(find_secret_in_field)
}

#[test]
fn a_field_that_asks_for_a_secret_is_known_by_its_name() {
    for name in [
        "password", "Password", "user_password", "userPassword", "passwd", "passphrase", "secret",
        "client_secret", "clientSecret", "token", "access_token", "accessToken", "githubToken",
        "api_key", "apiKey", "APIKey", "API-KEY", "apikey", "x-api-key", "otp", "OTP", "totp",
        "one_time_code", "oneTimePassword", "pin", "PIN", "card_pin", "pin_code", "seed_phrase",
        "seedPhrase", "recovery phrase", "mnemonic", "private_key", "privateKey", "credit_card",
        "creditCardNumber", "card_number", "cvv", "CVC", "security_code", "verification_code",
        "secret_key", "pass\u{200b}word", "p\u{430}ssword", "passw0rd", "Passwort", "пароль",
    ] {
        assert!(secret(name, "", "", "string").is_some(), "{name}");
    }
    assert!(secret("pin", "", "", "integer").is_some());
}

#[test]
fn names_that_only_look_like_secrets_are_let_through() {
    for name in [
        "token_count", "tokenCount", "max_tokens", "tokens", "token_limit", "token_type",
        "token_symbol", "next_page_token", "keyboard", "key", "primary_key", "sort_key",
        "secretary", "secret_santa", "passport_country", "compass", "passenger", "tokenizer",
        "spinner", "opinion", "pinned", "gpio_pin", "map_pin", "pin_location", "password_length",
        "password_policy", "password_manager", "api_key_name", "api_key_id", "secret_name",
        "private_key_path", "cardinality", "card_title", "post_code", "country_code", "code",
        "otp_method", "shipping", "zip", "name", "email", "author", "seed", "one_time_payment",
    ] {
        assert_eq!(secret(name, "", "", "string"), None, "{name}");
    }
}

#[test]
fn titles_and_descriptions_tell_as_well() {
    for (title, description, expected) in [
        ("Your password", "", Some("password")),
        ("Value", "Enter your GitHub access token.", Some("access token")),
        ("Value", "The 6-digit one-time code we sent you", Some("one time code")),
        ("Value", "The PIN of your card.", Some("pin")),
        ("Value", "Never give up! Enter your password", Some("password")),
        ("Value", "Never give up: enter your password", Some("password")),
        ("Favourite integer", "Do not give us your phone number, pin, or anything else", None),
        ("Comment", "Please don't include passwords or API keys here.", None),
        ("Limit", "The largest number of tokens per answer", None),
        ("Seat", "Ask the secretary which keyboard to use", None),
    ] {
        let found = secret("value", title, description, "string");
        assert_eq!(found.as_deref(), expected, "{title} {description}");
    }
}

#[test]
fn what_is_only_chosen_gives_nothing_away() {
    assert_eq!(secret("has_password", "Password?", "", "boolean"), None);
}

#[test]
fn a_message_may_speak_of_secrets_but_not_ask_for_them() {
    for (message, expected) in [
        ("Please enter your GitHub password to go on.", Some("password")),
        ("To continue, provide the API key of your account", Some("api key")),
        ("Your password was changed. What is your name?", None),
        ("Do not enter your password here. What is your name?", None),
        ("Which folder?", None),
    ] {
        assert_eq!(find_secret_in_message(message).as_deref(), expected, "{message}");
    }
}

#[test]
fn names_are_split_into_words() {
    for (text, expected) in [
        ("apiKey", vec!["api", "key"]),
        ("APIKey2", vec!["api", "key2"]),
        ("user_password-hash", vec!["user", "password", "hash"]),
        ("HTTPServer", vec!["http", "server"]),
    ] {
        assert_eq!(words(text), expected, "{text}");
    }
}
