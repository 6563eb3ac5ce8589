//! Conditions of rules: CEL expressions of limited size, compiled once.

use std::fmt;
use std::sync::{Arc, LazyLock};

use cel::{Env, Program};
use regex::Regex;

use crate::cel::condition_check::check;

/// Maximum length of a condition, in bytes.
const MAX_BYTES: usize = 4_000;

// Optional values are disabled: their results cannot be compared.
static CEL_ENV: LazyLock<Env> = LazyLock::new(|| Env::stdlib().with_optional_support(false));

/// A compiled and checked condition.
#[derive(Clone)]
pub struct Expression {
    text: Arc<str>,
    program: Arc<Program>,
    variables: Arc<[&'static str]>,
    patterns: Arc<[Regex]>,
}

/// The reason why a text is not a valid condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BadExpression {
    /// The position of the error, in characters.
    pub offset: usize,
    pub message: String,
    pub hint: Option<String>,
}

impl BadExpression {
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

impl Expression {
    pub(crate) fn compile(text: &str) -> Result<Self, BadExpression> {
        let bad = |offset, message: String| BadExpression { offset, message, hint: None };
        if text.len() > MAX_BYTES {
            return Err(bad(0, format!("is longer than {MAX_BYTES} bytes")));
        }
        let program = CEL_ENV.compile(text).map_err(|errors| {
            let first = errors.errors.first();
            let message = first.map_or("cannot be read", |error| error.msg.as_str());
            let message = message.lines().next().unwrap_or_default().trim_end_matches('.');
            let (line, column) = first.map_or((1, 1), |error| error.pos);
            let bad = bad(
                char_offset(text, line, column),
                format!("is not a valid CEL expression: {message}"),
            );
            // The usual cause is a regular expression in an ordinary string.
            if text.contains('\\') {
                bad.hint("write r'…' for a text with backslashes")
            } else {
                bad
            }
        })?;
        let checked = check(text, &program)?;
        Ok(Self {
            text: text.into(),
            variables: checked.used.into_iter().collect(),
            patterns: checked.patterns.into(),
            program: Arc::new(program),
        })
    }

    /// Returns the source text of the condition.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the variables that the condition uses.
    pub fn variables(&self) -> &[&'static str] {
        &self.variables
    }

    /// Returns the literal regular expressions of the condition, compiled.
    pub fn patterns(&self) -> &[Regex] {
        &self.patterns
    }

    /// Returns the compiled CEL program.
    pub fn program(&self) -> &Program {
        &self.program
    }
}

// A `Program` cannot be compared, but the text determines it.
impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Expression {}

impl fmt::Debug for Expression {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Expression({:?})", self.text)
    }
}

/// Returns the character offset of a line and column, both counted from 1.
fn char_offset(text: &str, line: isize, column: isize) -> usize {
    let before = usize::try_from(line - 1).unwrap_or(0);
    let lines: usize =
        text.split_inclusive('\n').take(before).map(|line| line.chars().count()).sum();
    lines + usize::try_from(column - 1).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns offset, message and hint of the error of a condition.
    fn wrong(text: &str) -> Option<(usize, String, Option<String>)> {
        Expression::compile(text).err().map(|bad| (bad.offset, bad.message, bad.hint))
    }

    #[test]
    fn a_condition_that_can_be_decided_is_compiled() {
        for text in [
            "true",
            "args.path.startsWith('/data') && size(args.list) > 2",
            "args.items.all(item, item.price < 500)",
            "args.items.exists_one(item, item.price < 500)",
            "size(args.items.filter(item, item.ok)) > 1 || args.items.map(item, item.n) == [1]",
            "has(args.path) && path_in(args.path, '/data')",
            "path_in(args.path, 'C:/data') || path_in(args.path, args.root)",
            "session.tainted || risk.score > 50",
            "has(session.times.web) && session.times.web > 20",
            "session.times['web'] > 20 && session.times[server.name] > 20",
            "'web' in session.reads && server.name in session.times",
            "session.reads.all(name, name.startsWith('corp'))",
            "session.times.exists(name, session.times[name] > 3)",
            "risk.score * 2 > 50 && double(risk.score) * 1.5 > 50.0 && risk.score > 2.5",
            "risk.reasons.exists(reason, reason.contains('path'))",
            "has(tool.annotations.destructiveHint) && tool.annotations.destructiveHint",
            "tool.annotations['readOnlyHint'] == true && tool.annotations.audience == 'staff'",
            "tool.kind in ['tool', 'prompt'] && caller.origin != 'person'",
            "args.a == null && args.b == 'x' && args.c == 1 && args['d'].e[0].f > 2u",
            "type(args.n) == int || type(args.n) == type(1.0)",
            "string(args.n) + 'x' == '1x' && int(args.t) + 1 > 2 && -args.n < 3",
            "args.text.matches(r'^\\d+$') && matches(args.text, args.pattern)",
            "caller.name == 'a' ? args.n > 1 : server.trusted",
            "dyn(risk.score) == 'x'",
        ] {
            assert_eq!(wrong(text), None, "{text}");
        }
    }

    #[test]
    fn what_no_call_could_make_right_is_refused_with_its_place_and_a_way_out() {
        let mut others = Vec::new();
        for (text, offset, message, hint) in [
            ("args.amount <", 13, "is not a valid CEL expression: ", None),
            ("arg.amount < 3", 0, "uses the unknown variable `arg`", Some("`args`?")),
            ("sesion.reads == []", 0, "uses the unknown variable `sesion`", Some("`session`?")),
            ("true && risk.skore > 5", 13, "uses the unknown member `skore`", Some("`score`?")),
            ("has(session.raeds)", 12, "uses the unknown member `raeds`", Some("`reads`?")),
            ("session['raeds'] == []", 9, "uses the unknown member `raeds`", Some("`reads`?")),
            ("caller.email == 'x'", 7, "uses the unknown member `email`", Some("`face`, `origin`")),
            (
                "has(tool.annotations.destructiveHnt)",
                21,
                "uses the unknown member `destructiveHnt`",
                Some("`destructiveHint`?"),
            ),
            ("tool.name.first == 'x'", 10, "uses a member `first` of a text", None),
            (
                "true && pth_in(args.path, '/')",
                8,
                "calls the unknown function `pth_in`",
                Some("`path_in`?"),
            ),
            ("size(1, 2) > 1", 0, "calls `size` incorrectly", Some("`size(args.list)`")),
            ("path_in(args.path)", 0, "calls `path_in` incorrectly", Some("'/data')`")),
            ("args.path.path_in('/a')", 10, "calls `path_in` incorrectly", Some("'/data')`")),
            ("contains(args.a, 'b')", 0, "calls `contains` incorrectly", Some("contains('")),
            ("args.a.all(x > 1)", 7, "calls `all` incorrectly", Some("all(item, item > 0)`")),
            ("min(args.a, 2) > 1", 0, "calls the unknown function `min`", None),
            ("args.a.all(x, args.b.all(y, x == y))", 24, "has a nested loop", None),
            ("args.t.contains(5)", 16, "passes a number to `contains`", Some("contains('word')")),
            ("args.t.matches('a(b')", 15, "has `a(b`, which is not a valid reg", Some("r'\\('")),
            ("!args.t.matches('(?!x)')", 16, "has `(?!x)`, which is not", Some("look-ahead")),
            ("path_in(args.path, 'data')", 19, "compares with the folder `data`", None),
            ("host_in(args.url, 'a.com*')", 18, "compares with `a.com*`, which has a", None),
            ("risk.score > '50'", 11, "compares a number with a text", Some("without quotes")),
            ("session.tainted == 'yes'", 16, "compares true or false with a text", Some("quotes")),
            ("server.name == null", 12, "compares a text with null", None),
            (
                "server.transport == 'sse'",
                20,
                "compares with `sse`, which is never",
                Some("`http`"),
            ),
            ("'modle' == caller.origin", 0, "compares with `modle`, which", Some("`model`?")),
            ("tool.kind in ['tol']", 14, "compares with `tol`, which is never", Some("`tool`?")),
            ("5 in session.reads", 2, "compares a number with a text", Some("without quotes")),
            ("'a' in server.name", 4, "searches in a text", Some(".contains(")),
            ("session.reads['web'] == 'x'", 14, "uses `web` as the index of a list", Some("0")),
            ("session.reads && true", 7, "uses a list as true or false", None),
            ("!risk.score", 5, "uses a number as true or false", None),
            ("risk.score", 4, "returns a number instead of true or false", None),
            ("risk.score * 1.5 > 50.0", 11, "mixes two types of numbers", Some("double(")),
            ("risk.score + 'x' == 'x'", 11, "calculates with a number and a text", None),
            ("risk.score.all(x, x > 1)", 14, "iterates over a number", None),
            ("args.t.matches('\\d')", 15, "is not a valid CEL expression: ", Some("r'…'")),
            ("args.?name == 'a'", 4, "is not a valid CEL expression: ", None),
            (
                "args.a == 'ä' && risk.skore > 5",
                22,
                "uses the unknown member `skore`",
                Some("`score`?"),
            ),
        ] {
            let Some((at, told, hinted)) = wrong(text) else { panic!("{text} is compiled") };
            let is_hinted = match hint {
                Some(hint) => hinted.as_deref().is_some_and(|hinted| hinted.contains(hint)),
                None => hinted.is_none(),
            };
            if at != offset || !told.starts_with(message) || !is_hinted {
                others.push((text, at, told, hinted));
            }
        }
        assert_eq!(others, []);
    }

    #[test]
    fn a_condition_that_is_too_long_or_too_deep_is_refused() {
        assert!(Expression::compile(&"a".repeat(5_000)).is_err());
        let deep = format!("{}true{}", "(".repeat(1_500), ")".repeat(1_500));
        assert!(Expression::compile(&deep).is_err());
        let long = vec!["true"; 400].join(" && ");
        assert!(Expression::compile(&long).is_ok());
    }
}
