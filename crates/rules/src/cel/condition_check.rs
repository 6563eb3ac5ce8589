//! Static checks of conditions at load time: unknown names, invalid calls, comparisons that can
//! never be true, and nested loops.

use std::collections::BTreeSet;

use cel::Program;
use cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue};
use regex::Regex;
use switchboard_text::suggestion;

use crate::cel::condition_calls::{CallNode, check_function, check_operator};
use crate::cel::condition_shapes::{
    CelMembers, CelShape, SESSION_WITH_RESULTS, TYPES, VARIABLES, name_hint, names,
};
use crate::expression::BadExpression;

pub(crate) struct CheckedExpression {
    /// The variables that the condition uses.
    pub(crate) used: BTreeSet<&'static str>,
    /// The literal regular expressions of the condition.
    pub(crate) patterns: Vec<Regex>,
}

pub(crate) fn check(text: &str, program: &Program) -> Result<CheckedExpression, BadExpression> {
    let mut check = ExpressionChecker {
        text: text.chars().collect(),
        program,
        bound: Vec::new(),
        is_in_loop: false,
        sessions: 0,
        result: CheckedExpression { used: BTreeSet::new(), patterns: Vec::new() },
    };
    let root = program.expression();
    let whole = check.shape(root)?;
    if !whole.can_be(&["true or false"]) {
        let message = format!("returns {} instead of true or false", whole.describe());
        return Err(check.error(root, message));
    }
    if check.sessions > 0 {
        check.result.used.remove("session");
        check.result.used.insert(SESSION_WITH_RESULTS);
    }
    Ok(check.result)
}

pub(crate) struct ExpressionChecker<'a> {
    text: Vec<char>,
    program: &'a Program,
    /// The variables of enclosing loops, innermost last.
    bound: Vec<(&'a str, CelShape)>,
    is_in_loop: bool,
    /// Number of uses of `session` as a whole or of its results.
    sessions: usize,
    pub(crate) result: CheckedExpression,
}

impl<'a> ExpressionChecker<'a> {
    /// Checks a subexpression and returns its shape.
    pub(crate) fn shape(&mut self, node: &'a IdedExpr) -> Result<CelShape, BadExpression> {
        match &node.expr {
            Expr::Ident(name) => self.variable(node, name),
            Expr::Literal(value) => Ok(literal_shape(value)),
            Expr::Select(select) => {
                let before = self.sessions;
                let of = self.shape(&select.operand)?;
                // `session.calls` does not need the results, which are expensive to provide.
                if matches!(select.operand.expr, Expr::Ident(_)) && select.field != "results" {
                    self.sessions = before;
                }
                let member = self.member(node, of, &select.field)?;
                Ok(if select.test { CelShape::Bool } else { member })
            }
            Expr::Call(call) => self.call(node, call),
            Expr::List(list) => {
                for element in &list.elements {
                    self.shape(element)?;
                }
                Ok(CelShape::List(&CelShape::Any))
            }
            Expr::Map(map) => {
                map.entries.iter().try_for_each(|entry| self.entry(&entry.expr))?;
                Ok(CelShape::Map(&CelShape::Any))
            }
            Expr::Struct(made) => {
                let message = format!("creates the unknown type `{}`", made.type_name);
                Err(self.error(node, message))
            }
            Expr::Comprehension(each) => self.comprehension(node, each),
            Expr::Unspecified => Ok(CelShape::Any),
        }
    }

    fn entry(&mut self, entry: &'a EntryExpr) -> Result<(), BadExpression> {
        match entry {
            EntryExpr::StructField(field) => self.shape(&field.value).map(drop),
            EntryExpr::MapEntry(entry) => {
                self.shape(&entry.key)?;
                self.shape(&entry.value).map(drop)
            }
        }
    }

    fn variable(&mut self, node: &IdedExpr, name: &str) -> Result<CelShape, BadExpression> {
        if let Some((_, shape)) = self.bound.iter().rev().find(|(bound, _)| *bound == name) {
            return Ok(*shape);
        }
        if let Some((known, shape)) = VARIABLES.iter().find(|(known, _)| *known == name) {
            self.result.used.insert(known);
            self.sessions += usize::from(*known == "session");
            return Ok(*shape);
        }
        if TYPES.contains(&name) {
            return Ok(CelShape::Type);
        }
        let message = format!("uses the unknown variable `{name}`");
        Err(self.error(node, message).hint(name_hint(name, &names(VARIABLES))))
    }

    pub(crate) fn member(
        &self,
        node: &IdedExpr,
        of: CelShape,
        name: &str,
    ) -> Result<CelShape, BadExpression> {
        match of {
            CelShape::Any => Ok(CelShape::Any),
            CelShape::Map(part) => Ok(*part),
            CelShape::Members(members) => find_member(members, name).ok_or_else(|| {
                let message = format!("uses the unknown member `{name}`");
                self.name_error(node, name, message).hint(name_hint(name, &names(members)))
            }),
            CelShape::Open(members) => {
                match (find_member(members, name), suggestion(name, &names(members))) {
                    (Some(shape), _) => Ok(shape),
                    (None, None) => Ok(CelShape::Any),
                    // Probably a typo, with which the rule would never match.
                    (None, Some(near)) => {
                        let message = format!("uses the unknown member `{name}`");
                        let hint = format!("did you mean `{near}`?");
                        Err(self.name_error(node, name, message).hint(hint))
                    }
                }
            }
            other => {
                let message = format!("uses a member `{name}` of {}", other.describe());
                Err(self.name_error(node, name, message))
            }
        }
    }

    fn call(&mut self, node: &'a IdedExpr, call: &'a CallExpr) -> Result<CelShape, BadExpression> {
        let is_operator = !call.func_name.starts_with(|first: char| first.is_ascii_alphabetic());
        if is_operator {
            let args = call.args.iter().map(|part| self.shape(part));
            let args: Vec<CelShape> = args.collect::<Result<_, _>>()?;
            return check_operator(self, CallNode { node, call }, &args);
        }
        check_function(self, CallNode { node, call })
    }

    fn comprehension(
        &mut self,
        node: &'a IdedExpr,
        each: &'a ComprehensionExpr,
    ) -> Result<CelShape, BadExpression> {
        let range = self.shape(&each.iter_range)?;
        if !range.can_be(&["a list", "an object"]) {
            let message = format!("iterates over {} instead of a list", range.describe());
            return Err(self.error(node, message));
        }
        // The arguments of a call may be large lists: nested loops would take quadratic time.
        if std::mem::replace(&mut self.is_in_loop, true) {
            return Err(self.error(node, "has a nested loop".to_owned()));
        }
        let accumulated = self.shape(&each.accu_init)?;
        self.bound.push((&each.accu_var, accumulated));
        self.bound.push((&each.iter_var, range.element()));
        self.bound.extend(each.iter_var2.as_deref().map(|name| (name, CelShape::Any)));
        self.shape(&each.loop_cond)?;
        self.shape(&each.loop_step)?;
        let shape = self.shape(&each.result)?;
        // Loops are never nested, so all bound variables belong to this one.
        self.bound.clear();
        self.is_in_loop = false;
        Ok(shape)
    }

    pub(crate) fn error(&self, node: &IdedExpr, message: String) -> BadExpression {
        BadExpression { offset: self.offset(node), message, hint: None }
    }

    /// Returns an error at the occurrence of a name that is nearest to a subexpression.
    pub(crate) fn name_error(&self, node: &IdedExpr, name: &str, message: String) -> BadExpression {
        // The parser reports the position of the dot before a name or of the bracket after it.
        let around = self.offset(node);
        let name: Vec<char> = name.chars().collect();
        let is_word = |at: &usize| {
            let inside = |index: Option<usize>| {
                let next = index.and_then(|index| self.text.get(index));
                next.is_some_and(|next| next.is_alphanumeric() || *next == '_')
            };
            !inside(at.checked_sub(1)) && !inside(Some(at + name.len()))
        };
        let windows = self.text.windows(name.len().max(1)).enumerate();
        let places = windows.filter(|(_, window)| *window == name).map(|(at, _)| at);
        let nearest = places.filter(is_word).min_by_key(|at| at.abs_diff(around));
        BadExpression { offset: nearest.unwrap_or(around), message, hint: None }
    }

    fn offset(&self, node: &IdedExpr) -> usize {
        let place = self.program.source_info().offset_for(node.id).map_or(0, |(start, _)| start);
        usize::try_from(place).unwrap_or(0)
    }
}

fn find_member(members: CelMembers, name: &str) -> Option<CelShape> {
    members.iter().find(|(known, _)| *known == name).map(|(_, shape)| *shape)
}

const fn literal_shape(value: &LiteralValue) -> CelShape {
    match value {
        LiteralValue::Boolean(_) => CelShape::Bool,
        LiteralValue::Bytes(_) => CelShape::Bytes,
        LiteralValue::Double(_) => CelShape::Double,
        LiteralValue::Int(_) => CelShape::Int,
        LiteralValue::Null => CelShape::Null,
        LiteralValue::String(_) => CelShape::Text,
        LiteralValue::UInt(_) => CelShape::UInt,
    }
}

/// Returns the value of a string literal.
pub(crate) fn literal(node: &IdedExpr) -> Option<&str> {
    match &node.expr {
        Expr::Literal(LiteralValue::String(text)) => Some(text.inner()),
        _ => None,
    }
}
