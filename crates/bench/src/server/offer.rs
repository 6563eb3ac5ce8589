//! Generated tools with names, descriptions and schemas of the usual size.

use std::collections::BTreeSet;

const VERBS: &str = "create list get update delete search export import archive merge assign publish compare \
    validate schedule cancel restore rename watch summarize";

const THINGS: &str = "issue branch commit release pipeline invoice customer payment refund calendar event \
    meeting message channel thread document folder sheet row table query index dashboard alert \
    metric trace container volume cluster secret user group role token page image ticket \
    campaign contact deployment";

const PLACES: &str = "project workspace organization repository account region team archive inbox backlog \
    sandbox warehouse catalog registry tenant milestone template subscription environment \
    notebook board label session bucket snapshot mailbox portfolio contract survey fleet";

pub(crate) struct MadeTool {
    pub(crate) name: String,
    pub(crate) definition: String,
}

/// Returns `echo` and generated tools, which depend on `seed`.
pub(crate) fn definitions(count: usize, seed: u64) -> Vec<MadeTool> {
    let mut made = vec![echo()];
    let mut names = BTreeSet::new();
    let mut draw = SeededDraw(seed);
    // More draws than tools, because names repeat: there are 24,000 of them.
    for _ in 0..count.saturating_mul(20) {
        if made.len() >= count {
            break;
        }
        let verb = draw.pick(VERBS);
        let thing = draw.pick(THINGS);
        let place = draw.pick(PLACES);
        let name = format!("{verb}_{thing}_in_{place}");
        if names.insert(name.clone()) {
            let definition = definition(&name, verb, thing, place);
            made.push(MadeTool { name, definition });
        }
    }
    made.truncate(count);
    made
}

/// Returns search queries for such tools, from whole sentences to the first letters of a word.
pub(crate) fn questions(count: usize) -> Vec<String> {
    let mut draw = SeededDraw(7);
    let question = |number: usize| {
        let verb = draw.pick(VERBS);
        let thing = draw.pick(THINGS);
        let place = draw.pick(PLACES);
        match number % 5 {
            0 => format!("{verb} {thing}"),
            1 => format!("how do I {verb} the {thing} of my {place}?"),
            2 => format!("{thing} {place}"),
            3 => format!("{verb}_{thing}"),
            _ => thing.chars().take(4).collect(),
        }
    };
    (0..count).map(question).collect()
}

fn echo() -> MadeTool {
    let definition = concat!(
        r#"{"name":"echo","description":"Gives the text back.","inputSchema":{"type":"object","#,
        r#""properties":{"text":{"type":"string"}},"required":["text"]}}"#
    );
    MadeTool { name: "echo".to_owned(), definition: definition.to_owned() }
}

fn definition(name: &str, verb: &str, thing: &str, place: &str) -> String {
    format!(
        concat!(
            r#"{{"name":"{name}","title":"{verb} {thing}","description":"Use this to {verb} one "#,
            r#"{thing} in a {place}. The {place} must exist and the caller needs the right to "#,
            r#"{verb} there; the answer holds the {thing} as it is afterwards.","inputSchema":"#,
            r#"{{"type":"object","properties":{{"{thing}_id":{{"type":"string","description":"#,
            r#""The number of the {thing}."}},"{place}":{{"type":"string","description":"Which "#,
            r#"{place} it belongs to."}},"limit":{{"type":"integer","minimum":1,"maximum":100,"#,
            r#""description":"At most this many."}},"dry_run":{{"type":"boolean","description":"#,
            r#""Only say what would happen."}}}},"required":["{thing}_id","{place}"]}},"#,
            r#""annotations":{{"readOnlyHint":false,"openWorldHint":true}}}}"#
        ),
        name = name,
        verb = verb,
        thing = thing,
        place = place
    )
}

/// A random generator with the same sequence in every run.
struct SeededDraw(u64);

impl SeededDraw {
    fn pick(&mut self, words: &'static str) -> &'static str {
        let words: Vec<&str> = words.split(' ').collect();
        // One step of SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        let at = usize::try_from(mixed % words.len().max(1) as u64).unwrap_or_default();
        words.get(at).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::definitions;

    #[test]
    fn two_thousand_tools_have_two_thousand_names() {
        let made = definitions(2_000, 1);
        let names: BTreeSet<&str> = made.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!((made.len(), names.len()), (2_000, 2_000));
        for tool in &made {
            let read: serde_json::Value = serde_json::from_str(&tool.definition).unwrap();
            assert_eq!(read["name"], tool.name.as_str());
        }
    }
}
