//! A condition of a rule: an expression in CEL, compiled once and held to a size that is decided quickly.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use cel::common::ast::{EntryExpr, Expr, IdedExpr};
use cel::{Env, Program};

use crate::config::similar::suggestion;

/// The longest condition, in bytes.
const LONGEST: usize = 4_000;

/// What a condition may speak of.
const VARIABLES: &[&str] = &["args", "tool", "server", "caller", "session", "risk"];

/// What a condition may call, beside operators.
const FUNCTIONS: &[&str] = &[
    "path_in",
    "host_in",
    "size",
    "contains",
    "startsWith",
    "endsWith",
    "matches",
    "int",
    "uint",
    "double",
    "string",
    "bool",
    "bytes",
    "type",
    "dyn",
    "min",
    "max",
];

/// A condition that can be decided.
#[derive(Clone)]
pub struct Expression {
    text: Arc<str>,
    program: Arc<Program>,
    variables: Arc<[&'static str]>,
}

/// Why a text is no condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BadExpression {
    /// How many characters of the text are before the place.
    pub(super) offset: usize,
    pub(super) message: String,
    pub(super) hint: Option<String>,
}

impl Expression {
    /// Compiles a text.
    pub(super) fn compile(text: &str) -> Result<Self, BadExpression> {
        let bad = |offset, message: String| BadExpression { offset, message, hint: None };
        if text.len() > LONGEST {
            return Err(bad(0, format!("is longer than {LONGEST} bytes")));
        }
        let program = Env::stdlib().compile(text).map_err(|errors| {
            let first = errors.errors.first();
            let message = first.map_or("cannot be read", |error| error.msg.as_str());
            let message = message.lines().next().unwrap_or_default().trim_end_matches('.');
            let position = first.map_or((1, 1), |error| error.pos);
            bad(offset_of(text, position), format!("is no expression: {message}"))
        })?;
        let mut names =
            Names { program: &program, bound: Vec::new(), used: BTreeSet::new(), problem: None };
        names.walk(program.expression());
        match names.problem {
            Some(problem) => Err(problem),
            None => {
                let variables = names.used.iter().copied().collect();
                Ok(Self { text: text.into(), variables, program: Arc::new(program) })
            }
        }
    }

    /// The text as it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What it speaks of.
    #[must_use]
    pub fn variables(&self) -> &[&'static str] {
        &self.variables
    }

    /// The compiled form.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }
}

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

/// Characters before a line and column, both counted from 1.
fn offset_of(text: &str, (line, column): (isize, isize)) -> usize {
    let before = usize::try_from(line - 1).unwrap_or(0);
    let lines: usize =
        text.split_inclusive('\n').take(before).map(|line| line.chars().count()).sum();
    lines + usize::try_from(column - 1).unwrap_or(0)
}

/// Looks for names that nobody knows, and for loops inside loops: those could take for ever.
struct Names<'a> {
    program: &'a Program,
    bound: Vec<&'a str>,
    used: BTreeSet<&'static str>,
    problem: Option<BadExpression>,
}

impl<'a> Names<'a> {
    fn walk(&mut self, node: &'a IdedExpr) {
        match &node.expr {
            Expr::Ident(name) => self.variable(node, name),
            Expr::Call(call) => {
                self.function(node, &call.func_name);
                call.target.iter().for_each(|target| self.walk(target));
                call.args.iter().for_each(|argument| self.walk(argument));
            }
            Expr::Select(select) => self.walk(&select.operand),
            Expr::List(list) => list.elements.iter().for_each(|element| self.walk(element)),
            Expr::Map(map) => map.entries.iter().for_each(|entry| self.entry(&entry.expr)),
            Expr::Struct(made) => made.entries.iter().for_each(|entry| self.entry(&entry.expr)),
            Expr::Comprehension(each) => {
                if !self.bound.is_empty() {
                    self.problem(node, "has a loop inside a loop".to_owned(), None);
                }
                self.walk(&each.iter_range);
                self.bound.push(&each.iter_var);
                self.bound.extend(each.iter_var2.as_deref());
                for part in [&each.accu_init, &each.loop_cond, &each.loop_step, &each.result] {
                    self.walk(part);
                }
                self.bound.clear();
            }
            Expr::Literal(_) | Expr::Unspecified => {}
        }
    }

    fn entry(&mut self, entry: &'a EntryExpr) {
        match entry {
            EntryExpr::StructField(field) => self.walk(&field.value),
            EntryExpr::MapEntry(entry) => {
                self.walk(&entry.key);
                self.walk(&entry.value);
            }
        }
    }

    fn variable(&mut self, node: &IdedExpr, name: &'a str) {
        if name.starts_with('@') || self.bound.contains(&name) {
            return;
        }
        if let Some(known) = VARIABLES.iter().find(|known| **known == name) {
            self.used.insert(known);
            return;
        }
        let all = || format!("there are `{}`", VARIABLES.join("`, `"));
        let hint =
            suggestion(name, VARIABLES).map_or_else(all, |near| format!("did you mean `{near}`?"));
        self.problem(node, format!("speaks of `{name}`, which is not known"), Some(hint));
    }

    fn function(&mut self, node: &IdedExpr, name: &str) {
        let is_operator = !name.starts_with(|first: char| first.is_ascii_alphabetic());
        if is_operator || FUNCTIONS.contains(&name) {
            return;
        }
        let hint = suggestion(name, FUNCTIONS).map(|near| format!("did you mean `{near}`?"));
        self.problem(node, format!("calls `{name}`, which is not known"), hint);
    }

    fn problem(&mut self, node: &IdedExpr, message: String, hint: Option<String>) {
        let place = self.program.source_info().offset_for(node.id).map_or(0, |(start, _)| start);
        let offset = usize::try_from(place).unwrap_or(0);
        self.problem.get_or_insert(BadExpression { offset, message, hint });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_is_compiled_or_refused_with_its_place() {
        for (text, expected) in [
            ("true", None),
            ("args.path.startsWith('/data') && size(args.list) > 2", None),
            ("args.items.all(item, item.price < 500)", None),
            ("has(args.path) && path_in(args.path, '/data')", None),
            ("session.tainted || risk.score > 50", None),
            ("args.amount <", Some((13, "is no expression: "))),
            ("arg.amount < 3", Some((0, "speaks of `arg`, which is not known"))),
            ("true && pth_in(args.path, '/')", Some((14, "calls `pth_in`, which is not known"))),
            ("args.a.all(x, args.b.all(y, x == y))", Some((24, "has a loop inside a loop"))),
        ] {
            let got = Expression::compile(text).map(drop);
            match (got, expected) {
                (Ok(()), None) => {}
                (Err(bad), Some((offset, message))) => {
                    assert!(bad.message.starts_with(message), "{text}: {bad:?}");
                    assert_eq!(bad.offset, offset, "{text}: {bad:?}");
                }
                (got, _) => panic!("{text}: {got:?}"),
            }
        }
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
