//! What operators and functions of conditions take and give.

use cel::common::ast::{CallExpr, Expr, IdedExpr, operators};
use switchboard_net::check_host_pattern;
use switchboard_text::suggestion;

use crate::cel::condition_check::{Check, literal};
use crate::cel::condition_shapes::{Shape, hint};
use crate::expression::BadExpression;
use crate::path_parts::check_folder;
use crate::regex_limits;

/// How a function is called.
struct Function {
    name: &'static str,
    /// As people write it.
    usage: &'static str,
    /// What it takes as `function(a, b)`, and what it takes as `a.function(b)`.
    alone: Option<Takes>,
    of_value: Option<Takes>,
    gives: Shape,
}

/// What each argument has to be, with the value before the dot as the first; empty for anything.
type Takes = &'static [&'static [&'static str]];

const TEXT: &[&str] = &["a text"];
const ANYTHING: &[&str] = &[];
const TEXTS: Takes = &[TEXT, TEXT];
const ONE: Takes = &[ANYTHING];
const SIZED: Takes = &[&["a text", "bytes", "a list", "an object"]];

const FUNCTIONS: &[Function] = &[
    global("path_in", "path_in(args.path, '/data')", TEXTS, Shape::Bool),
    global("host_in", "host_in(args.url, '*.example.com')", TEXTS, Shape::Bool),
    method("contains", "args.text.contains('word')", TEXTS, Shape::Bool),
    method("startsWith", "args.text.startsWith('word')", TEXTS, Shape::Bool),
    method("endsWith", "args.text.endsWith('word')", TEXTS, Shape::Bool),
    both("matches", "args.text.matches('^[a-z]+$')", TEXTS, Shape::Bool),
    both("size", "size(args.list)", SIZED, Shape::Int),
    global("int", "int(args.number)", ONE, Shape::Int),
    global("uint", "uint(args.number)", ONE, Shape::UInt),
    global("double", "double(args.number)", ONE, Shape::Double),
    global("string", "string(args.number)", ONE, Shape::Text),
    global("bool", "bool(args.text)", ONE, Shape::Bool),
    global("bytes", "bytes(args.text)", ONE, Shape::Bytes),
    global("type", "type(args.value)", ONE, Shape::Type),
    global("dyn", "dyn(args.value)", ONE, Shape::Any),
    // These are taken apart when they are read; what is left of them was written in another way.
    unread("has", "has(args.name)"),
    unread("all", "args.list.all(item, item > 0)"),
    unread("exists", "args.list.exists(item, item > 0)"),
    unread("exists_one", "args.list.exists_one(item, item > 0)"),
    unread("map", "args.list.map(item, item.name)"),
    unread("filter", "args.list.filter(item, item > 0)"),
];

const fn global(name: &'static str, usage: &'static str, takes: Takes, gives: Shape) -> Function {
    Function { name, usage, alone: Some(takes), of_value: None, gives }
}

const fn method(name: &'static str, usage: &'static str, takes: Takes, gives: Shape) -> Function {
    Function { name, usage, alone: None, of_value: Some(takes), gives }
}

const fn both(name: &'static str, usage: &'static str, takes: Takes, gives: Shape) -> Function {
    Function { name, usage, alone: Some(takes), of_value: Some(takes), gives }
}

const fn unread(name: &'static str, usage: &'static str) -> Function {
    Function { name, usage, alone: None, of_value: None, gives: Shape::Any }
}

/// A call in the condition.
type Called<'a> = (&'a IdedExpr, &'a CallExpr);

/// What a function gives, if it can be called like this.
pub(crate) fn function<'a>(
    check: &mut Check<'a>,
    (node, call): Called<'a>,
) -> Result<Shape, BadExpression> {
    let name = call.func_name.as_str();
    let Some(known) = FUNCTIONS.iter().find(|known| known.name == name) else {
        let message = format!("calls `{name}`, which is not known");
        let bad = check.bad_name(node, name, message);
        let names: Vec<&str> = FUNCTIONS.iter().map(|known| known.name).collect();
        return Err(match suggestion(name, &names) {
            Some(near) => bad.hint(format!("did you mean `{near}`?")),
            None => bad,
        });
    };
    let parts: Vec<&IdedExpr> = call.target.as_deref().into_iter().chain(&call.args).collect();
    let takes = if call.target.is_some() { known.of_value } else { known.alone };
    let Some(takes) = takes.filter(|takes| takes.len() == parts.len()) else {
        let message = format!("calls `{name}` in another way than it is meant");
        let hint = format!("it is written as `{}`", known.usage);
        return Err(check.bad_name(node, name, message).hint(hint));
    };
    for (part, wanted) in parts.iter().zip(takes) {
        let shape = check.shape(part)?;
        if !wanted.is_empty() && !shape.can_be(wanted) {
            let (told, wanted) = (shape.told(), wanted.join(" or "));
            let message = format!("gives {told} to `{name}`, which takes {wanted}");
            let hint = format!("it is written as `{}`", known.usage);
            return Err(check.bad(part, message).hint(hint));
        }
    }
    if let Some((text, part)) = parts.get(1).and_then(|part| Some((literal(part)?, part))) {
        written(check, name, text).map_err(|(message, hint)| {
            let bad = check.bad(part, message);
            match hint {
                Some(hint) => bad.hint(hint),
                None => bad,
            }
        })?;
    }
    Ok(known.gives)
}

/// Looks at a second argument that stands in the condition itself: what cannot be used at any call
/// is wrong at once.
fn written(
    check: &mut Check<'_>,
    function: &str,
    text: &str,
) -> Result<(), (String, Option<String>)> {
    match function {
        "matches" => {
            let pattern = regex_limits::compile(text).map_err(|bad| {
                let message =
                    format!("has `{text}`, which is no regular expression: {}", bad.message);
                (message, Some(bad.hint.to_owned()))
            })?;
            check.found.patterns.push(pattern);
        }
        "path_in" => check_folder(text)
            .map_err(|cause| (format!("compares with the folder `{text}`: {cause}"), None))?,
        "host_in" => check_host_pattern(text)
            .map_err(|cause| (format!("compares with `{text}`, which {cause}"), None))?,
        _ => {}
    }
    Ok(())
}

/// What an operator gives, if it can be used on such values.
pub(crate) fn operator<'a>(
    check: &Check<'a>,
    called: Called<'a>,
    args: &[Shape],
) -> Result<Shape, BadExpression> {
    let (node, call) = called;
    let name = call.func_name.as_str();
    match (name, args) {
        (operators::LOGICAL_AND | operators::LOGICAL_OR | operators::LOGICAL_NOT, args) => {
            all_bool(check, call, args)
        }
        (operators::CONDITIONAL, [condition, yes, no]) => {
            all_bool(check, call, &[*condition])?;
            Ok(if yes == no { *yes } else { Shape::Any })
        }
        (operators::EQUALS | operators::NOT_EQUALS, [left, right]) => {
            equal(check, called, (*left, *right))
        }
        (operators::IN, [left, right]) => within(check, called, (*left, *right)),
        (
            operators::LESS
            | operators::LESS_EQUALS
            | operators::GREATER
            | operators::GREATER_EQUALS,
            [left, right],
        ) => {
            let ordered = ["a number", "a text", "true or false", "bytes"];
            let can = left.can_equal(*right) && left.can_be(&ordered) && right.can_be(&ordered);
            let told = (left.told(), right.told());
            if can { Ok(Shape::Bool) } else { Err(unequal(check, node, told)) }
        }
        (operators::INDEX, [of, index]) => indexed(check, called, (*of, *index)),
        (operators::NEGATE, [of]) if of.can_be(&["a number"]) => Ok(*of),
        (
            operators::ADD
            | operators::SUBSTRACT
            | operators::MULTIPLY
            | operators::DIVIDE
            | operators::MODULO,
            [left, right],
        ) => reckoned(check, called, (*left, *right)),
        (operators::NEGATE, [of]) => Err(check.bad(node, format!("reckons with {}", of.told()))),
        (operators::NOT_STRICTLY_FALSE, _) => Ok(Shape::Bool),
        _ => Ok(Shape::Any),
    }
}

fn all_bool(check: &Check<'_>, call: &CallExpr, args: &[Shape]) -> Result<Shape, BadExpression> {
    for (part, shape) in call.args.iter().zip(args) {
        if !shape.can_be(&["true or false"]) {
            let message = format!("takes {} for true or false", shape.told());
            return Err(check.bad(part, message));
        }
    }
    Ok(Shape::Bool)
}

fn unequal(check: &Check<'_>, node: &IdedExpr, (left, right): (&str, &str)) -> BadExpression {
    let bad = check.bad(node, format!("compares {left} with {right}"));
    match (left, right) {
        ("a number", "a text") | ("a text", "a number") => {
            bad.hint("a number is written without quotes")
        }
        ("true or false", "a text") | ("a text", "true or false") => {
            bad.hint("`true` and `false` are written without quotes")
        }
        _ => bad,
    }
}

fn equal(
    check: &Check<'_>,
    (node, call): Called<'_>,
    (left, right): (Shape, Shape),
) -> Result<Shape, BadExpression> {
    if !left.can_equal(right) {
        return Err(unequal(check, node, (left.told(), right.told())));
    }
    if let [first, second] = call.args.as_slice() {
        one_of(check, left, second)?;
        one_of(check, right, first)?;
    }
    Ok(Shape::Bool)
}

/// Looks whether a text that stands in the condition is one that the value can have.
fn one_of(check: &Check<'_>, shape: Shape, part: &IdedExpr) -> Result<(), BadExpression> {
    let (Shape::Word(words), Some(text)) = (shape, literal(part)) else { return Ok(()) };
    if words.contains(&text) {
        return Ok(());
    }
    let message = format!("compares with `{text}`, which it never is");
    Err(check.bad(part, message).hint(hint(text, words)))
}

fn within(
    check: &Check<'_>,
    (node, call): Called<'_>,
    (left, right): (Shape, Shape),
) -> Result<Shape, BadExpression> {
    if !right.can_be(&["a list", "an object"]) {
        let bad = check.bad(node, format!("looks for something in {}", right.told()));
        let is_text = right.told() == "a text";
        return Err(if is_text {
            bad.hint("a text is asked with `.contains('…')`")
        } else {
            bad
        });
    }
    if !left.can_equal(right.part()) {
        return Err(unequal(check, node, (left.told(), right.part().told())));
    }
    if let [_, second] = call.args.as_slice()
        && let Expr::List(list) = &second.expr
    {
        list.elements.iter().try_for_each(|element| one_of(check, left, element))?;
    }
    Ok(Shape::Bool)
}

fn indexed(
    check: &Check<'_>,
    (node, call): Called<'_>,
    (of, index): (Shape, Shape),
) -> Result<Shape, BadExpression> {
    let named = call.args.get(1).and_then(|part| Some((literal(part)?, part)));
    match (of, named) {
        (Shape::List(_), Some((text, part))) => {
            let message = format!("takes `{text}` for a place in a list");
            Err(check.bad(part, message).hint("a place is a number, the first is 0"))
        }
        (Shape::List(part), None) => Ok(*part),
        (_, Some((text, part))) => check.member(part, of, text),
        (Shape::Map(part), None) if index.can_be(TEXT) => Ok(*part),
        (Shape::Any | Shape::Members(_) | Shape::Open(_), None) => Ok(Shape::Any),
        (other, None) => {
            let message = format!("takes something out of {} by {}", other.told(), index.told());
            Err(check.bad(node, message))
        }
    }
}

fn reckoned(
    check: &Check<'_>,
    (node, call): Called<'_>,
    (left, right): (Shape, Shape),
) -> Result<Shape, BadExpression> {
    let joins = ["a text", "bytes", "a list"];
    let is_sum = call.func_name == operators::ADD;
    let can = |shape: Shape| shape.can_be(&["a number"]) || is_sum && shape.can_be(&joins);
    if !can(left) || !can(right) || !left.can_equal(right) {
        let (left, right) = (left.told(), right.told());
        return Err(check.bad(node, format!("reckons with {left} and {right}")));
    }
    if left.is_number() && right.is_number() && left != right {
        let bad = check.bad(node, "reckons with two kinds of numbers".to_owned());
        return Err(bad.hint("whole numbers and others are brought together with `double(…)`"));
    }
    Ok(match (left, right) {
        (Shape::Any, other) | (other, Shape::Any) => other,
        (Shape::Word(_), _) | (_, Shape::Word(_)) => Shape::Text,
        (same, _) => same,
    })
}
