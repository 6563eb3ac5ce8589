//! Type checks of the operators and functions of conditions.

use cel::common::ast::{CallExpr, Expr, IdedExpr, operators};
use switchboard_net::check_host_pattern;
use switchboard_text::suggestion;

use crate::cel::condition_check::{ExpressionChecker, literal};
use crate::cel::condition_shapes::{CelShape, name_hint};
use crate::expression::BadExpression;
use crate::path_parts::check_folder;
use crate::regex_limits;
use CallForm::{Both, Global, Macro, Method};

struct CelFunction {
    name: &'static str,
    form: CallForm,
    takes: ParameterKinds,
    gives: CelShape,
    /// A usage example for hints.
    usage: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CallForm {
    Global,
    Method,
    Both,
    /// A macro, which the parser expands; a call that remains has the wrong syntax.
    Macro,
}

/// The accepted kinds of each argument, receiver first; an empty list accepts anything.
type ParameterKinds = &'static [&'static [&'static str]];

const TEXT: &[&str] = &["a text"];
const ANYTHING: &[&str] = &[];
const TEXTS: ParameterKinds = &[TEXT, TEXT];
const ONE_VALUE: ParameterKinds = &[ANYTHING];
const SIZED: ParameterKinds = &[&["a text", "bytes", "a list", "an object"]];

const FUNCTIONS: &[CelFunction] = &[
    function("path_in", Global, TEXTS, CelShape::Bool, "path_in(args.path, '/data')"),
    function("host_in", Global, TEXTS, CelShape::Bool, "host_in(args.url, '*.example.com')"),
    function("contains", Method, TEXTS, CelShape::Bool, "args.text.contains('word')"),
    function("startsWith", Method, TEXTS, CelShape::Bool, "args.text.startsWith('word')"),
    function("endsWith", Method, TEXTS, CelShape::Bool, "args.text.endsWith('word')"),
    function("matches", Both, TEXTS, CelShape::Bool, "args.text.matches('^[a-z]+$')"),
    function("size", Both, SIZED, CelShape::Int, "size(args.list)"),
    function("int", Global, ONE_VALUE, CelShape::Int, "int(args.number)"),
    function("uint", Global, ONE_VALUE, CelShape::UInt, "uint(args.number)"),
    function("double", Global, ONE_VALUE, CelShape::Double, "double(args.number)"),
    function("string", Global, ONE_VALUE, CelShape::Text, "string(args.number)"),
    function("bool", Global, ONE_VALUE, CelShape::Bool, "bool(args.text)"),
    function("bytes", Global, ONE_VALUE, CelShape::Bytes, "bytes(args.text)"),
    function("type", Global, ONE_VALUE, CelShape::Type, "type(args.value)"),
    function("dyn", Global, ONE_VALUE, CelShape::Any, "dyn(args.value)"),
    function("has", Macro, ONE_VALUE, CelShape::Any, "has(args.name)"),
    function("all", Macro, ONE_VALUE, CelShape::Any, "args.list.all(item, item > 0)"),
    function("exists", Macro, ONE_VALUE, CelShape::Any, "args.list.exists(item, item > 0)"),
    function("exists_one", Macro, ONE_VALUE, CelShape::Any, "args.list.exists_one(item, item > 0)"),
    function("map", Macro, ONE_VALUE, CelShape::Any, "args.list.map(item, item.name)"),
    function("filter", Macro, ONE_VALUE, CelShape::Any, "args.list.filter(item, item > 0)"),
];

const fn function(
    name: &'static str,
    form: CallForm,
    takes: ParameterKinds,
    gives: CelShape,
    usage: &'static str,
) -> CelFunction {
    CelFunction { name, form, takes, gives, usage }
}

/// A call, and the node that has its position.
#[derive(Clone, Copy)]
pub(crate) struct CallNode<'a> {
    pub(crate) node: &'a IdedExpr,
    pub(crate) call: &'a CallExpr,
}

/// Checks a function call and returns the shape of its result.
pub(crate) fn check_function<'a>(
    check: &mut ExpressionChecker<'a>,
    CallNode { node, call }: CallNode<'a>,
) -> Result<CelShape, BadExpression> {
    let name = call.func_name.as_str();
    let Some(known) = FUNCTIONS.iter().find(|known| known.name == name) else {
        let message = format!("calls the unknown function `{name}`");
        let bad = check.name_error(node, name, message);
        let names: Vec<&str> = FUNCTIONS.iter().map(|known| known.name).collect();
        return Err(match suggestion(name, &names) {
            Some(near) => bad.hint(format!("did you mean `{near}`?")),
            None => bad,
        });
    };
    let parts: Vec<&IdedExpr> = call.target.as_deref().into_iter().chain(&call.args).collect();
    let form = if call.target.is_some() { Method } else { Global };
    let is_form = known.form == form || known.form == Both;
    if !is_form || known.takes.len() != parts.len() {
        let message = format!("calls `{name}` incorrectly");
        let hint = format!("write `{}`", known.usage);
        return Err(check.name_error(node, name, message).hint(hint));
    }
    for (part, wanted) in parts.iter().zip(known.takes) {
        let shape = check.shape(part)?;
        if !wanted.is_empty() && !shape.can_be(wanted) {
            let told = shape.describe();
            let wanted = wanted.join(" or ");
            let message = format!("passes {told} to `{name}`, which takes {wanted}");
            let hint = format!("write `{}`", known.usage);
            return Err(check.error(part, message).hint(hint));
        }
    }
    if let Some((text, part)) = parts.get(1).and_then(|part| Some((literal(part)?, part))) {
        check_literal_argument(check, name, text).map_err(|(message, hint)| {
            let bad = check.error(part, message);
            match hint {
                Some(hint) => bad.hint(hint),
                None => bad,
            }
        })?;
    }
    Ok(known.gives)
}

/// Checks a literal second argument.
fn check_literal_argument(
    check: &mut ExpressionChecker<'_>,
    function: &str,
    text: &str,
) -> Result<(), (String, Option<String>)> {
    // At call time, an invalid literal would make every decision of the rule fail.
    match function {
        "matches" => {
            let pattern = regex_limits::compile(text).map_err(|bad| {
                let message = format!(
                    "has `{text}`, which is not a valid regular expression: {}",
                    bad.message
                );
                (message, Some(bad.hint.to_owned()))
            })?;
            check.result.patterns.push(pattern);
        }
        "path_in" => check_folder(text)
            .map_err(|cause| (format!("compares with the folder `{text}`: {cause}"), None))?,
        "host_in" => check_host_pattern(text)
            .map_err(|cause| (format!("compares with `{text}`, which {cause}"), None))?,
        _ => {}
    }
    Ok(())
}

/// Checks the operands of an operator and returns the shape of its result.
pub(crate) fn check_operator<'a>(
    check: &ExpressionChecker<'a>,
    called: CallNode<'a>,
    args: &[CelShape],
) -> Result<CelShape, BadExpression> {
    let CallNode { node, call } = called;
    let name = call.func_name.as_str();
    match (name, args) {
        (operators::LOGICAL_AND | operators::LOGICAL_OR | operators::LOGICAL_NOT, args) => {
            check_all_bool(check, call, args)
        }
        (operators::CONDITIONAL, [condition, yes, no]) => {
            check_all_bool(check, call, &[*condition])?;
            Ok(if yes == no { *yes } else { CelShape::Any })
        }
        (operators::EQUALS | operators::NOT_EQUALS, [left, right]) => {
            check_equality(check, called, *left, *right)
        }
        (operators::IN, [left, right]) => check_membership(check, called, *left, *right),
        (
            operators::LESS
            | operators::LESS_EQUALS
            | operators::GREATER
            | operators::GREATER_EQUALS,
            [left, right],
        ) => {
            let ordered = ["a number", "a text", "true or false", "bytes"];
            let can = left.can_equal(*right) && left.can_be(&ordered) && right.can_be(&ordered);
            if can { Ok(CelShape::Bool) } else { Err(comparison_error(check, node, *left, *right)) }
        }
        (operators::INDEX, [of, index]) => check_index(check, called, *of, *index),
        (operators::NEGATE, [of]) if of.can_be(&["a number"]) => Ok(*of),
        (
            operators::ADD
            | operators::SUBSTRACT
            | operators::MULTIPLY
            | operators::DIVIDE
            | operators::MODULO,
            [left, right],
        ) => check_arithmetic(check, called, *left, *right),
        (operators::NEGATE, [of]) => {
            Err(check.error(node, format!("calculates with {}", of.describe())))
        }
        (operators::NOT_STRICTLY_FALSE, _) => Ok(CelShape::Bool),
        _ => Ok(CelShape::Any),
    }
}

fn check_all_bool(
    check: &ExpressionChecker<'_>,
    call: &CallExpr,
    args: &[CelShape],
) -> Result<CelShape, BadExpression> {
    for (part, shape) in call.args.iter().zip(args) {
        if !shape.can_be(&["true or false"]) {
            let message = format!("uses {} as true or false", shape.describe());
            return Err(check.error(part, message));
        }
    }
    Ok(CelShape::Bool)
}

fn comparison_error(
    check: &ExpressionChecker<'_>,
    node: &IdedExpr,
    left: CelShape,
    right: CelShape,
) -> BadExpression {
    let left = left.describe();
    let right = right.describe();
    let bad = check.error(node, format!("compares {left} with {right}"));
    match (left, right) {
        ("a number", "a text") | ("a text", "a number") => {
            bad.hint("write a number without quotes")
        }
        ("true or false", "a text") | ("a text", "true or false") => {
            bad.hint("write `true` and `false` without quotes")
        }
        _ => bad,
    }
}

fn check_equality(
    check: &ExpressionChecker<'_>,
    CallNode { node, call }: CallNode<'_>,
    left: CelShape,
    right: CelShape,
) -> Result<CelShape, BadExpression> {
    if !left.can_equal(right) {
        return Err(comparison_error(check, node, left, right));
    }
    if let [first, second] = call.args.as_slice() {
        check_known_word(check, left, second)?;
        check_known_word(check, right, first)?;
    }
    Ok(CelShape::Bool)
}

/// Checks that a literal is one of the values that the other operand can have.
fn check_known_word(
    check: &ExpressionChecker<'_>,
    shape: CelShape,
    part: &IdedExpr,
) -> Result<(), BadExpression> {
    let (CelShape::Word(words), Some(text)) = (shape, literal(part)) else { return Ok(()) };
    if words.contains(&text) {
        return Ok(());
    }
    let message = format!("compares with `{text}`, which is never its value");
    Err(check.error(part, message).hint(name_hint(text, words)))
}

fn check_membership(
    check: &ExpressionChecker<'_>,
    CallNode { node, call }: CallNode<'_>,
    left: CelShape,
    right: CelShape,
) -> Result<CelShape, BadExpression> {
    if !right.can_be(&["a list", "an object"]) {
        let bad = check.error(node, format!("searches in {}", right.describe()));
        let is_text = right.describe() == "a text";
        return Err(if is_text {
            bad.hint("use `.contains('…')` to search in a text")
        } else {
            bad
        });
    }
    if !left.can_equal(right.element()) {
        return Err(comparison_error(check, node, left, right.element()));
    }
    if let [_, second] = call.args.as_slice()
        && let Expr::List(list) = &second.expr
    {
        list.elements.iter().try_for_each(|element| check_known_word(check, left, element))?;
    }
    Ok(CelShape::Bool)
}

fn check_index(
    check: &ExpressionChecker<'_>,
    CallNode { node, call }: CallNode<'_>,
    of: CelShape,
    index: CelShape,
) -> Result<CelShape, BadExpression> {
    let named = call.args.get(1).and_then(|part| Some((literal(part)?, part)));
    match (of, named) {
        (CelShape::List(_), Some((text, part))) => {
            let message = format!("uses `{text}` as the index of a list");
            Err(check.error(part, message).hint("an index is a number, starting at 0"))
        }
        (CelShape::List(part), None) => Ok(*part),
        (_, Some((text, part))) => check.member(part, of, text),
        (CelShape::Map(part), None) if index.can_be(TEXT) => Ok(*part),
        (CelShape::Any | CelShape::Members(_) | CelShape::Open(_), None) => Ok(CelShape::Any),
        (other, None) => {
            let message = format!("indexes {} by {}", other.describe(), index.describe());
            Err(check.error(node, message))
        }
    }
}

fn check_arithmetic(
    check: &ExpressionChecker<'_>,
    CallNode { node, call }: CallNode<'_>,
    left: CelShape,
    right: CelShape,
) -> Result<CelShape, BadExpression> {
    let joins = ["a text", "bytes", "a list"];
    let is_sum = call.func_name == operators::ADD;
    let can = |shape: CelShape| shape.can_be(&["a number"]) || is_sum && shape.can_be(&joins);
    if !can(left) || !can(right) || !left.can_equal(right) {
        let left = left.describe();
        let right = right.describe();
        return Err(check.error(node, format!("calculates with {left} and {right}")));
    }
    // CEL compares numbers of different types, but does not calculate with them.
    if left.is_number() && right.is_number() && left != right {
        let bad = check.error(node, "mixes two types of numbers".to_owned());
        return Err(bad.hint("convert whole numbers with `double(…)`"));
    }
    Ok(match (left, right) {
        (CelShape::Any, other) | (other, CelShape::Any) => other,
        (CelShape::Word(_), _) | (_, CelShape::Word(_)) => CelShape::Text,
        (same, _) => same,
    })
}
