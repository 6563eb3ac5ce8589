//! Rendering of Markdown, as a whole and in pieces.

use proptest::prelude::*;
use switchboard_text::is_hidden;

use super::{Markdown, Paint};

fn render(text: &str, width: usize, paint: Paint) -> String {
    let mut markdown = Markdown::new(width, paint);
    let mut out = markdown.push(text);
    out.push_str(&markdown.finish());
    out
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(render(text, 30, Paint::Plain), expected, "{text:?}");
}

/// Checks the output with terminal codes made visible.
#[track_caller]
fn check_colour(text: &str, expected: &str) {
    let shown = render(text, 30, Paint::Colour);
    assert_eq!(shown.replace("\u{1b}[0m", "</>").replace("\u{1b}[", "<"), expected, "{text:?}");
}

#[test]
fn paragraphs_are_wrapped_and_keep_the_line_breaks_of_their_author() {
    check("one two three four five six seven eight", "one two three four five six\nseven eight\n");
    check("a\nb\r\n\n\n\nc\n\n", "a\nb\n\nc\n");
    check("", "");
    check("\n\n", "");
    // A word that is longer than a line stays whole, so that a URL can be copied.
    check(
        "see https://example.com/a/very/long/path now",
        "see\nhttps://example.com/a/very/long/path\nnow\n",
    );
}

#[test]
fn wide_characters_take_two_columns_and_break_anywhere_but_before_a_full_stop() {
    check(
        "日本語の文章は単語の間に空白を入れません。次の文です。",
        "日本語の文章は単語の間に空白を\n入れません。次の文です。\n",
    );
    check("一二三四五六七八九十一二三四五。", "一二三四五六七八九十一二三四\n五。\n");
    check("\u{1f600}\u{1f44b}\u{1f3fd} ok", "\u{1f600}\u{1f44b}\u{1f3fd} ok\n");
}

#[test]
fn spans_have_looks() {
    for (text, expected) in [
        ("a **b c** d", "a <1mb</> <1mc</> d\n"),
        ("*i* _i_ __b__ ***x***", "<3mi</> <3mi</> <1mb</> <1m<3mx</>\n"),
        ("**a *b* c**", "<1ma</> <1m<3mb</> <1mc</>\n"),
        ("***a** b*", "<1m<3ma</> <3mb</>\n"),
        ("**Note:** text", "<1mNote:</> text\n"),
        ("~~gone~~ ~ok", "<9mgone</> ~ok\n"),
        ("run `cargo  test` or ``a`b``", "run <36mcargo</> <36m test</> or <36ma`b</>\n"),
        ("`**no**` **`yes`**", "<36m**no**</> <36m<1myes</>\n"),
        ("[text](http://a.b/c)", "<4mtext</> <2m(http://a.b/c)</>\n"),
        ("[**t** u](<x> \"title\").", "<1m<4mt</> <4mu</> <2m(x)</>.\n"),
        ("[http://a](http://a) <http://b>", "<4mhttp://a</> <4mhttp://b</>\n"),
        ("![cat](c.png)", "<4mcat</> <2m(c.png)</>\n"),
        ("**a\nb**", "<1ma</>\n<1mb</>\n"),
        ("a<br>b", "a\nb\n"),
        ("# Big *one*", "<1mBig</> <1m<3mone</>\n"),
        ("> quoted", "<2m│</> quoted\n"),
    ] {
        check_colour(text, expected);
    }
}

#[test]
fn without_colours_code_and_headings_keep_their_marks() {
    check("## Two `a b` **c**", "## Two `a b` c\n");
}

#[test]
fn what_only_looks_like_markup_is_text() {
    for text in [
        "2 * 3 * 4", "snake_case_name", "__init__ed", "a ** b", "**", "***", "*a", "**a", "`a",
        "``a`", "[a", "[a]", "[a](", "[a](b", "[a] (b)", "![a", "!", "a\\", "<a", "a < b > c",
        "Vec<String>", "#no", "#######", "-no", "1.no", "1", "12345678901. x", "``", "*a `b",
        "[**a](", "**a [b", "+", "_", "a|b", "$", "[ ] x", "* *a",
    ] {
        let expected = match text {
            "***" => format!("{}\n", "─".repeat(30)),
            "+" => "• \n".to_owned(),
            "* *a" => "• *a\n".to_owned(),
            _ => format!("{text}\n"),
        };
        check(text, &expected);
    }
    check(r"\*a\* \`b\` \# \\ \q", "*a* `b` # \\ \\q\n");
}

#[test]
fn lists_hang_and_nest() {
    check(
        "- one two three four five six seven\n- b\n  - nested item that is wrapped too\n    1. deep\n- c",
        "• one two three four five six\n  seven\n• b\n  • nested item that is\n    wrapped too\n    1. deep\n• c\n",
    );
    check("1. a\n   b\n\n2. c\n\n   more\n\nafter", "1. a\n   b\n\n2. c\n\n   more\n\nafter\n");
    check("10) a\n    * b\nlazy\n\nout", "10) a\n    • b\n      lazy\n\nout\n");
    check("- [ ] todo\n- [x] done\n- [y] no\n1. [X] n", "☐ todo\n☑ done\n• [y] no\n1. ☑ n\n");
    check("- - a\n-\n- b", "• • a\n• \n• b\n");
    check("text\n- a\n- b\n\ntext", "text\n• a\n• b\n\ntext\n");
}

#[test]
fn quotes_keep_their_bar() {
    check("> a b\n> c\n>\n> d\n\nout", "│ a b\n│ c\n│\n│ d\n\nout\n");
    check("> one two three four five six seven", "│ one two three four five six\n│ seven\n");
    check("> > deep\n> - a\n>   b\n\nout", "│ │ deep\n│ • a\n│   b\n\nout\n");
    check("- a\n  > q\n- b", "• a\n  │ q\n• b\n");
    check("> ```\n> x\n> ```\n> y", "│   ┌─\n│   │ x\n│   └─\n│ y\n");
    check("> ```\n> x\nout", "│   ┌─\n│   │ x\n│   └─\nout\n");
}

#[test]
fn code_stays_as_it_is() {
    check(
        "```rust\nfn a() {}   // **not bold** and this line is longer than the terminal is wide\n\n  b\n```\nafter",
        "  ┌─ rust\n  │ fn a() {}   // **not bold** and this line is longer than the terminal is wide\n  │\n  │   b\n  └─\nafter\n",
    );
    check("~~~\n```\n~~~~", "  ┌─\n  │ ```\n  └─\n");
    check("````md\n```\n````", "  ┌─ md\n  │ ```\n  └─\n");
    check(
        "- a\n  ```sh\n  ls\n    x\n  ```\n- b",
        "• a\n    ┌─ sh\n    │ ls\n    │   x\n    └─\n• b\n",
    );
    check("```\nnever closed", "  ┌─\n  │ never closed\n  └─\n");
    check("```\na\n", "  ┌─\n  │ a\n  └─\n");
    check("```code``` inline", "`code` inline\n");
}

#[test]
fn rules_fill_the_line() {
    let rule = "─".repeat(30);
    for text in ["---", "***", "___", "* * *", "- - - -", " -----  "] {
        check(&format!("a\n\n{text}\nb"), &format!("a\n\n{rule}\nb\n"));
    }
}

#[test]
fn tables_are_aligned_and_shrink_to_fit() {
    check(
        "| Name | N |\n|:-----|--:|\n| a | 1 |\n| `b\\|c` | 10 |\n\nafter",
        "Name  │  N\n──────┼───\na     │  1\n`b|c` │ 10\n\nafter\n",
    );
    check("|a|\n|:-:|\n|x|\n|日本|\n|日|", " a\n────\n x\n日本\n 日\n");
    check(
        "|Word|Meaning|\n|--|--|\n|x|a text that is much too long for it|",
        "Word │ Meaning\n─────┼────────────────────────\nx    │ a text that is much to…\n",
    );
    check("> |a|b|\n> |-|-|\n> |c|d|\nout", "│ a │ b\n│ ──┼──\n│ c │ d\nout\n");
    check("| not a table\nx", "| not a table\nx\n");
    check("|a|b|\n|-|\n", "|a|b|\n|-|\n");
    check("|x|\n|a|\n|-|", "|x|\na\n─\n");
    check_colour("|a|\n|-|\n|**b**|", "<1ma</>\n<2m─</>\n<1mb</>\n");
    // A table with more columns than fit is rendered without alignment.
    let wide = format!("{}\n{}", "|a".repeat(20), "|-".repeat(20));
    assert_eq!(render(&wide, 30, Paint::Plain), format!("a{}\n", " | a".repeat(19)));
}

#[test]
fn lines_that_follow_do_not_change_the_text_before_them() {
    check("a b\n---\nc", "a b\n───\nc\n");
    check("see [a]\n\n[a]: http://b", "see [a]\n\n[a]: http://b\n");
    check("a | b\n--|--\nc | d", "a | b\n--|--\nc | d\n");
    check("`[a]:` [b](c]:)", "`[a]:` b (c]:)\n");
}

#[test]
fn html_is_shown_as_it_is() {
    check("<div>\n**a**\n\n<b>b</b> **c**", "<div>\n**a**\n\n<b>b</b> c\n");
}

#[test]
fn words_appear_as_soon_as_they_are_complete() {
    let mut markdown = Markdown::new(80, Paint::Plain);
    let shown: Vec<String> = ["Hel", "lo wor", "ld, ", "**bo", "ld** x ", "\n```", "\nco", "de\n"]
        .map(|text| markdown.push(text))
        .into();
    assert_eq!(shown, ["", "Hello", " world,", "", " bold x", "", "\n  ┌─", "\n  │ code"]);
    assert_eq!(markdown.finish(), "\n  └─\n");
    assert_eq!(markdown.push("again ") + &markdown.finish(), "again\n");
}

#[test]
fn an_opening_that_is_never_closed_does_not_hold_the_text_for_ever() {
    for mark in ["*", "`", "[", "<"] {
        let mut markdown = Markdown::new(80, Paint::Plain);
        let mut shown = markdown.push(&format!("{mark}a "));
        for _ in 0..300 {
            shown.push_str(&markdown.push("word "));
        }
        assert!(shown.starts_with(&format!("{mark}a word word")), "{shown}");
    }
}

#[test]
fn nothing_that_could_deceive_gets_through() {
    for (text, expected) in [
        ("a\u{1b}[2Jb", "a\\e[2Jb\n"),
        ("\u{1b}]8;;x\u{7}", "\\e]8;;x\\x07\n"),
        ("a\rb", "a\nb\n"),
        ("cod\u{202e}gpj", "cod<U+202E>gpj\n"),
        ("```a\u{1b}b\n\u{1b}[0m\rx\n```", "  ┌─ a\\eb\n  │ \\e[0m\n  │ x\n  └─\n"),
        ("[a](b\u{200b})", "a (b<U+200B>)\n"),
        ("`\u{1b}`", "`\\e`\n"),
        ("|\u{1b}|\n|-|\n|\u{200b}|", "\\e\n────────\n<U+200B>\n"),
        ("\u{e0068}\u{e0069}", "<tags \"hi\">\n"),
    ] {
        check(text, expected);
    }
}

/// Renders a text for 80 columns within a time limit.
#[track_caller]
fn rendered_soon(text: &str) -> String {
    let started = std::time::Instant::now();
    let shown = render(text, 80, Paint::Plain);
    // Linear work takes about a second; quadratic work would take hours.
    let needed = started.elapsed();
    assert!(needed.as_secs() < 30, "{needed:?} for {} bytes", text.len());
    shown
}

#[test]
fn input_of_any_size_takes_time_in_proportion() {
    let megabyte = 1 << 20;
    #[rustfmt::skip]
    let pieces = [
        "*", "`", "|", "_", "~", "[", "]", "(", "<", "\\", "!", "#", ">", "- ", "* a", "` `` ",
        "[a](", "[a", "**a ", "*a**b", "|a|\n", "|a|\n|-|\n", "> ", "1. ", "~~~\n", "```\n", "![",
        "<a", "日", "\t", "a_", "***a*", "`a``b```c````d", "\n- a\n  - ", "\u{e0041}", "e\u{301}",
    ];
    for piece in pieces {
        let text = piece.repeat(megabyte / 4 / piece.len());
        let shown = rendered_soon(&text);
        // An escaped character takes several bytes; a bar, a bullet and an indentation take a few
        // more.
        assert!(shown.len() <= 24 * text.len(), "{piece:?}: {}", shown.len());
    }
    // A single line of marks is text.
    for mark in ["`", "|", "~", "*"] {
        let shown = rendered_soon(&format!("a{}", mark.repeat(megabyte)));
        assert_eq!(shown.len(), megabyte + 2, "{mark}");
    }
    // A table with too many columns is text; one with many rows is a table.
    let columns = 50_000;
    let wide = format!("{}\n{}", "|a".repeat(columns), "|-".repeat(columns));
    assert_eq!(rendered_soon(&wide).len(), 4 * columns - 2);
    for start in ["|a|\n|-|\n", "```\n|a|\n"] {
        let long = format!("{start}{}", "|b|\n".repeat(columns));
        let shown = rendered_soon(&long);
        assert_eq!(shown.lines().count(), columns + 2 + usize::from(start.starts_with('`')));
    }
}

#[test]
fn many_small_pieces_take_time_in_proportion() {
    let started = std::time::Instant::now();
    for piece in ["a word ", "```\nline\n", "|a|\n|-|\n", "> quoted\n", "- a\n\n  b\n"] {
        let mut markdown = Markdown::new(80, Paint::Plain);
        let whole: Vec<char> = piece.repeat((1 << 17) / piece.len()).chars().collect();
        let mut shown = String::new();
        for part in whole.chunks(64) {
            shown.push_str(&markdown.push(&part.iter().collect::<String>()));
        }
        let whole: String = whole.iter().collect();
        assert_eq!(shown + &markdown.finish(), render(&whole, 80, Paint::Plain));
    }
    assert!(started.elapsed().as_secs() < 60);
}

/// Generates text that is full of markup.
fn marked_up() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "*", "**", "***", "_", "`", "``", "```", "\n", "\n\n", "\n```\n", "~~~", "~~", "#", "# ",
        "- ", "  - ", "1. ", "> ", ">", "|", "|-|", "\n|a|\n|-|\n|b|", "[", "]", "(", ")", "](",
        "[ ] ", "[x] ", "\\", "!", "<", ">", "<br>", "http://a", " ", "  ", "\t", "word", "a",
        "\r", "\r\n", "\u{1b}[31m", "\u{202e}", "日本", "。", "\u{fe0f}", "\u{e0041}", "---",
        "e\u{301}", "\u{1f44b}\u{1f3fd}",
    ]);
    prop::collection::vec(
        prop_oneof![4 => piece.prop_map(str::to_owned), 1 => any::<char>().prop_map(String::from)],
        0..60,
    )
    .prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn chunks_make_no_difference(text in marked_up(), cuts in prop::collection::vec(0usize..200, 0..12)) {
        for paint in [Paint::Plain, Paint::Colour] {
            let whole = render(&text, 40, paint);
            let mut markdown = Markdown::new(40, paint);
            let chars: Vec<char> = text.chars().collect();
            let mut shown = String::new();
            let mut from = 0;
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| (*cut).min(chars.len())).collect();
            cuts.push(chars.len());
            cuts.sort_unstable();
            for cut in cuts {
                shown.push_str(&markdown.push(&chars[from..cut].iter().collect::<String>()));
                from = cut;
            }
            shown.push_str(&markdown.finish());
            prop_assert_eq!(&shown, &whole);
        }
    }

    #[test]
    fn only_our_own_codes_reach_the_terminal(text in marked_up()) {
        let mut shown = render(&text, 40, Paint::Colour);
        for code in ["0", "1", "2", "3", "4", "9", "36"] {
            for end in ["m", ";"] {
                shown = shown.replace(&format!("\u{1b}[{code}{end}"), if end == "m" { "" } else { "\u{1b}[" });
            }
        }
        for c in shown.chars() {
            prop_assert!(!is_hidden(c) && (!c.is_control() || c == '\n' || c == '\t'), "{c:?} in {shown:?}");
        }
    }

    #[test]
    fn lines_of_short_words_fit(words in prop::collection::vec("[a-z日本*_`]{1,4}", 0..80)) {
        for line in render(&words.join(" "), 30, Paint::Plain).lines() {
            prop_assert!(console::measure_text_width(line) <= 30, "{line:?}");
        }
    }
}
