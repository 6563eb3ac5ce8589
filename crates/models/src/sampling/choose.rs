//! Chooses a configured model by a server's preferences.

use std::collections::BTreeMap;

use switchboard_config::ModelProfile;
use switchboard_core::ModelPreferences;

use crate::providers::provider_spec;

// Parts of model names that indicate a small, fast and cheap model.
const SMALL_MODEL_MARKS: [&str; 8] =
    ["mini", "nano", "haiku", "flash", "lite", "small", "tiny", "fast"];

/// Chooses a profile by the only one allowed, the hints, the priorities, or the default.
pub(super) fn choose(
    profiles: &BTreeMap<String, ModelProfile>,
    usual: Option<&str>,
    wishes: &ModelPreferences,
) -> Option<String> {
    if let Some(only) = &wishes.only {
        let is_known = profiles.contains_key(only) || ModelProfile::from_spec(only).is_some();
        return is_known.then(|| only.clone());
    }
    let hinted = wishes.hints.iter().find_map(|hint| {
        // By the protocol, hints are substrings of model names, in order of preference.
        let hint = hint.trim().to_lowercase();
        let meant = |profile: &&ModelProfile| {
            [&profile.model, &profile.name].iter().any(|name| name.to_lowercase().contains(&hint))
        };
        profiles.values().filter(|_| !hint.is_empty()).find(meant)
    });
    let prioritised = || {
        let wanted = size_preference(wishes)?;
        let fits = |profile: &&ModelProfile| is_small(profile) == (wanted == SizePreference::Small);
        // Prefer the default if it fits, since a person chose it.
        let usual = usual.and_then(|name| profiles.get(name)).filter(fits);
        usual.or_else(|| profiles.values().find(fits))
    };
    let found = hinted.or_else(prioritised).map(|profile| profile.name.clone());
    found.or_else(|| usual.map(str::to_owned))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SizePreference {
    Small,
    Large,
}

fn size_preference(wishes: &ModelPreferences) -> Option<SizePreference> {
    let light = [wishes.cost, wishes.speed].into_iter().flatten().reduce(f64::max);
    match (light, wishes.intelligence) {
        (None, None) => None,
        (Some(light), Some(good)) if (light - good).abs() < f64::EPSILON => None,
        // A priority that the server leaves out counts as neutral.
        (Some(light), good) if light > good.unwrap_or(0.5) => Some(SizePreference::Small),
        (light, Some(good)) if good > light.unwrap_or(0.5) => Some(SizePreference::Large),
        _ => None,
    }
}

fn is_small(profile: &ModelProfile) -> bool {
    let name = format!("{} {}", profile.name, profile.model).to_lowercase();
    provider_spec(profile.provider).is_local
        || SMALL_MODEL_MARKS.iter().any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use switchboard_config::Provider;

    use super::*;

    fn check(wishes: &ModelPreferences, usual: Option<&str>, expected: Option<&str>) {
        let profiles: BTreeMap<String, ModelProfile> = [
            ("best", Provider::Anthropic, "claude-opus-4"),
            ("home", Provider::Ollama, "qwen3"),
            ("quick", Provider::Anthropic, "claude-3-5-haiku"),
        ]
        .into_iter()
        .map(|(name, provider, model)| (name.to_owned(), ModelProfile::new(name, provider, model)))
        .collect();
        let chosen = choose(&profiles, usual, wishes);
        assert_eq!(chosen.as_deref(), expected, "{wishes:?}");
    }

    fn hints(hints: &[&str]) -> ModelPreferences {
        let hints = hints.iter().map(|hint| (*hint).to_owned()).collect();
        ModelPreferences { hints, ..ModelPreferences::default() }
    }

    #[test]
    fn the_first_hint_that_is_part_of_a_name_decides() {
        check(&hints(&["gpt-5", "HAIKU", "opus"]), Some("best"), Some("quick"));
        check(&hints(&["claude"]), Some("home"), Some("best"));
        check(&hints(&["gpt-5", ""]), Some("home"), Some("home"));
    }

    #[test]
    fn without_a_hint_priorities_decide_and_then_the_usual_model() {
        let wishes = |cost, speed, intelligence| ModelPreferences {
            cost,
            speed,
            intelligence,
            ..ModelPreferences::default()
        };
        check(&wishes(Some(0.9), None, Some(0.2)), Some("best"), Some("home"));
        check(&wishes(None, Some(1.0), None), Some("quick"), Some("quick"));
        check(&wishes(Some(0.1), Some(0.1), Some(0.8)), Some("quick"), Some("best"));
        check(&wishes(Some(0.5), None, Some(0.5)), Some("quick"), Some("quick"));
        check(&ModelPreferences::default(), Some("openai:gpt-5"), Some("openai:gpt-5"));
        check(&ModelPreferences::default(), None, None);
    }

    #[test]
    fn what_the_configuration_insists_on_beats_every_wish() {
        let only =
            |name: &str| ModelPreferences { only: Some(name.to_owned()), ..hints(&["opus"]) };
        check(&only("quick"), Some("best"), Some("quick"));
        check(&only("openai:gpt-5"), Some("best"), Some("openai:gpt-5"));
        check(&only("unknown"), Some("best"), None);
    }
}
