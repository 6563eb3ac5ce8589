//! Rendering of untrusted Markdown: no raw HTML, no remote images, no clickable links.

use std::borrow::Cow;

use maud::{Markup, PreEscaped, html};
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::media::picture;

/// Maximum nesting; deeper elements are rendered without their tags.
const MAX_DEPTH: usize = 24;

pub(super) fn markdown(text: &str) -> Markup {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut writer = MarkdownWriter::default();
    for event in Parser::new_ext(text, options) {
        writer.take(event);
    }
    html! { div class="markdown" { (PreEscaped(writer.out)) } }
}

/// Returns whether a text without a declared type is probably Markdown.
pub(super) fn looks_like_markdown(text: &str) -> bool {
    let mut headings = 0;
    let mut items = 0;
    let mut certain = false;
    // The beginning decides; a result may have millions of lines.
    for line in text.lines().take(400).map(str::trim_start) {
        let marks = line.len() - line.trim_start_matches('#').len();
        headings += usize::from((1..=6).contains(&marks) && line.get(marks..=marks) == Some(" "));
        items += usize::from(line.starts_with("- ") || line.starts_with("* "));
        let is_ruler = line.starts_with('|') && line.contains("--");
        let is_only_ruler = line.chars().all(|c| "|:- ".contains(c));
        certain |= line.starts_with("```") || (is_ruler && is_only_ruler);
    }
    let has_strong = text.split("**").nth(2).is_some();
    let has_link = text.contains("](http");
    certain
        || has_link
        || (headings > 0 && (items > 1 || has_strong || headings > 1))
        || (items > 1 && has_strong)
}

#[derive(Default)]
struct MarkdownWriter {
    out: String,
    /// The closing tags of the open elements.
    open: Vec<Cow<'static, str>>,
    in_head: bool,
}

impl MarkdownWriter {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.begin(tag),
            Event::End(tag) => self.end(tag),
            // Untrusted HTML is escaped like any other text.
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.text(&text),
            Event::Code(code) => {
                self.out.push_str("<code>");
                self.text(&code);
                self.out.push_str("</code>");
            }
            Event::SoftBreak => self.out.push('\n'),
            Event::HardBreak => self.out.push_str("<br>"),
            Event::Rule => self.out.push_str("<hr>"),
            Event::TaskListMarker(is_done) => {
                self.out.push_str(if is_done { "☑ " } else { "☐ " });
            }
            Event::FootnoteReference(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.text(&text);
            }
        }
    }

    fn begin(&mut self, tag: Tag<'_>) {
        let (open, close): (Cow<'static, str>, Cow<'static, str>) = match tag {
            Tag::Paragraph => ("<p>".into(), "</p>".into()),
            Tag::Heading { level, .. } => {
                // Keeps these headings below those of the page.
                let name = match level {
                    HeadingLevel::H1 => "h4",
                    HeadingLevel::H2 => "h5",
                    _ => "h6",
                };
                (format!("<{name}>").into(), format!("</{name}>").into())
            }
            Tag::BlockQuote(_) => ("<blockquote>".into(), "</blockquote>".into()),
            Tag::CodeBlock(kind) => {
                let about = match kind {
                    CodeBlockKind::Fenced(name) if !name.is_empty() => name.to_string(),
                    _ => "code".to_owned(),
                };
                let open = format!(
                    "<pre class=\"code\" tabindex=\"0\" aria-label=\"{}\">",
                    escape(&about)
                );
                (open.into(), "</pre>".into())
            }
            Tag::HtmlBlock => ("<pre class=\"text\" tabindex=\"0\">".into(), "</pre>".into()),
            Tag::List(Some(first)) => (format!("<ol start=\"{first}\">").into(), "</ol>".into()),
            Tag::List(None) => ("<ul>".into(), "</ul>".into()),
            Tag::Item => ("<li>".into(), "</li>".into()),
            Tag::Table(_) => (
                "<div class=\"scroll\" tabindex=\"0\"><table>".into(),
                "</tbody></table></div>".into(),
            ),
            Tag::TableHead => {
                self.in_head = true;
                ("<thead><tr>".into(), "</tr></thead><tbody>".into())
            }
            Tag::TableRow => ("<tr>".into(), "</tr>".into()),
            Tag::TableCell if self.in_head => ("<th>".into(), "</th>".into()),
            Tag::TableCell => ("<td>".into(), "</td>".into()),
            Tag::Emphasis => ("<em>".into(), "</em>".into()),
            Tag::Strong => ("<strong>".into(), "</strong>".into()),
            Tag::Strikethrough => ("<del>".into(), "</del>".into()),
            Tag::Link { dest_url, .. } => ("<span>".into(), address(&dest_url).into()),
            Tag::Image { dest_url, .. } => image(&dest_url),
            _ => ("".into(), "".into()),
        };
        let is_deep = self.open.len() > MAX_DEPTH;
        self.out.push_str(if is_deep { "" } else { &open });
        self.open.push(if is_deep { "".into() } else { close });
    }

    fn end(&mut self, tag: TagEnd) {
        if tag == TagEnd::TableHead {
            self.in_head = false;
        }
        if let Some(close) = self.open.pop() {
            self.out.push_str(&close);
        }
    }

    fn text(&mut self, text: &str) {
        self.out.push_str(&escape(text));
    }
}

fn escape(text: &str) -> String {
    html! { (text) }.into_string()
}

/// Returns the end of a link's text and its URL, which is shown but not clickable.
fn address(to: &str) -> String {
    // An anchor leads within the text, so its address says nothing.
    if to.starts_with('#') {
        return "</span>".to_owned();
    }
    format!("</span> <span class=\"mono muted leads\">{}</span>", escape(to))
}

/// Renders an embedded image if it is safe. A remote one is never loaded; its URL is shown instead.
fn image(from: &str) -> (Cow<'static, str>, Cow<'static, str>) {
    let data = from.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    if let Some(Ok(source)) = data.map(|(_, data)| picture(data)) {
        let shown = html! { img class="picture" src=(source) alt="Image in the text"; };
        return (shown.into_string().into(), "".into());
    }
    let from: String = from.chars().take(300).collect();
    ("<span class=\"tag\">image</span> <span>".into(), address(&from).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let whole = markdown(text).into_string();
        let inner = whole.strip_prefix("<div class=\"markdown\">").unwrap();
        inner.strip_suffix("</div>").unwrap().to_owned()
    }

    #[test]
    fn what_is_written_is_shown_as_it_is_meant() {
        for (text, expected) in [
            (
                "# One\n\ntwo **three** _four_",
                "<h4>One</h4><p>two <strong>three</strong> <em>four</em></p>",
            ),
            ("- a\n- [x] b", "<ul><li>a</li><li>☑ b</li></ul>"),
            ("3. a", "<ol start=\"3\"><li>a</li></ol>"),
            ("`a<b`", "<p><code>a&lt;b</code></p>"),
            (
                "```rust\na < b\n```",
                "<pre class=\"code\" tabindex=\"0\" aria-label=\"rust\">a &lt; b\n</pre>",
            ),
            (
                "|a|b|\n|-|-|\n|1|2|",
                "<div class=\"scroll\" tabindex=\"0\"><table><thead><tr><th>a</th><th>b</th></tr></thead>\
                 <tbody><tr><td>1</td><td>2</td></tr></tbody></table></div>",
            ),
            ("> a", "<blockquote><p>a</p></blockquote>"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn lb_03_nothing_of_others_runs_loads_or_leads_anywhere() {
        for text in [
            "<script>alert(1)</script>",
            "a <img src=x onerror=alert(1)> b",
            "[a](javascript:alert(1))",
            "[a](https://evil.example/x \"t\")",
            "![a](https://evil.example/p.png?secret)",
            "<https://evil.example>",
            "![a](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+)",
            "```\"><script>\nx\n```",
            "[a]: https://evil.example\n\n[a] ![a]",
            "<details open ontoggle=alert(1)>",
            "# <b onclick=x>a</b>",
        ] {
            let shown = shown(text);
            for bad in ["<script", "<img", "<a ", "href=", "<b ", "<details", "<svg"] {
                assert!(!shown.contains(bad), "`{bad}` of {text} in {shown}");
            }
        }
        let linked = shown("[a](https://b.example)");
        let expected =
            "<p><span>a</span> <span class=\"mono muted leads\">https://b.example</span></p>";
        assert_eq!(linked, expected, "where it leads can be read");
    }

    #[test]
    fn deep_nesting_stays_shallow_and_everything_is_closed() {
        let deep = format!("{} a", ">".repeat(5_000));
        let shown = shown(&deep);
        let opened = shown.matches("<blockquote>").count();
        assert!(opened <= MAX_DEPTH + 1, "{opened}");
        assert_eq!(opened, shown.matches("</blockquote>").count());
    }

    #[test]
    fn markdown_is_told_from_plain_text_and_code() {
        for (text, expected) in [
            ("# Title\n\n- a\n- b", true),
            ("see\n```\nx\n```", true),
            ("| a |\n|---|\n| 1 |", true),
            ("read [this](https://a.example)", true),
            ("plain words, no marks", false),
            ("# a comment\nx = 1", false),
            ("2 ** 3 = 8", false),
            ("{\"a\": 1}", false),
            ("total 4\n- rw", false),
        ] {
            assert_eq!(looks_like_markdown(text), expected, "{text}");
        }
    }
}
