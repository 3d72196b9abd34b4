//! Generated blocks of a Markdown file.
//!
//! A block starts with a comment that says what stands in it, and ends with `<!-- /record -->`:
//!
//! ```text
//! <!-- record: claims 2026-11-22-watchlist W1 W2 -->
//! | claim | …
//! <!-- /record -->
//! ```
//!
//! In code between fences the comments mean nothing. Further lines of the comment are `HEADING = EXPRESSION`, for the tables that take any.

/// The start of every block, and the line that ends it.
const START: &str = "<!-- record: ";
const END: &str = "<!-- /record -->";
const COMMENT_END: &str = "-->";

/// The content of a block.
#[derive(Debug, PartialEq)]
pub struct Order<'a> {
    /// The words of the first line.
    pub words: Vec<&'a str>,
    /// The further lines: what stands before and after `=`.
    pub lines: Vec<(&'a str, &'a str)>,
}

/// The start of a code fence.
const FENCE: &str = "```";

/// The text with each block as it should be; an error names the line of the block.
pub fn rewrite(
    text: &str,
    mut render: impl FnMut(&Order<'_>) -> Result<String, String>,
) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut lines = text.split_inclusive('\n').enumerate();
    let mut is_code = false;
    while let Some((at, line)) = lines.next() {
        out += line;
        is_code ^= line.starts_with(FENCE);
        if is_code || !line.starts_with(START) {
            continue;
        }
        let wrong = |what: String| format!("line {}: {what}", at + 1);
        let mut comment = line.to_owned();
        while !comment.trim_end().ends_with(COMMENT_END) {
            let (_, more) = lines
                .next()
                .ok_or_else(|| wrong(format!("the comment isn't closed by {COMMENT_END}")))?;
            comment += more;
            out += more;
        }
        let shown = render(&order(&comment).map_err(wrong)?).map_err(wrong)?;
        let end = lines.find(|(_, line)| line.starts_with("<!-- "));
        let (_, end) = end
            .filter(|(_, line)| line.starts_with(END))
            .ok_or_else(|| wrong(format!("no {END} ends it")))?;
        out += &format!("{}\n{end}", shown.trim_end());
    }
    Ok(out)
}

fn order(comment: &str) -> Result<Order<'_>, String> {
    let inside = comment.trim_end().trim_end_matches(COMMENT_END);
    let mut lines = inside[START.len()..].lines();
    let words = lines.next().unwrap_or_default().split_whitespace();
    let pair = |line: &'_ str| format!("`{line}` isn't HEADING = EXPRESSION");
    Ok(Order {
        words: words.collect(),
        lines: lines
            .filter(|line| !line.trim().is_empty())
            .map(|line| {
                let (heading, expression) = line.split_once('=').ok_or_else(|| pair(line))?;
                Ok((heading.trim(), expression.trim()))
            })
            .collect::<Result<_, String>>()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str =
        "a\n<!-- record: x 1\nh = e f\n-->\nold\n<!-- /record -->\nb <!-- record: no -->\n";

    #[test]
    fn a_block_is_replaced_and_the_rest_stays() {
        let mut seen = Vec::new();
        let text = rewrite(PAGE, |order| {
            seen.push((order.words.join(" "), format!("{:?}", order.lines)));
            Ok("new\n\n".into())
        });
        assert_eq!(text.unwrap(), PAGE.replace("old", "new"));
        assert_eq!(seen, [("x 1".into(), r#"[("h", "e f")]"#.into())]);
    }

    #[test]
    fn code_between_fences_stays() {
        let code = format!("```text\n{PAGE}```\n");
        assert_eq!(rewrite(&code, |_| Ok("new".into())).unwrap(), code);
    }

    #[test]
    fn blocks_that_do_not_end_are_told_with_their_line() {
        let error = |text: &str| rewrite(text, |_| Ok(String::new())).unwrap_err();
        assert_eq!(
            error("a\n<!-- record: x"),
            "line 2: the comment isn't closed by -->"
        );
        let open = "<!-- record: x -->\n\n<!-- record: y -->\n<!-- /record -->\n";
        assert_eq!(error(open), "line 1: no <!-- /record --> ends it");
        let odd = "<!-- record: x\nodd\n-->\n<!-- /record -->\n";
        assert_eq!(error(odd), "line 1: `odd` isn't HEADING = EXPRESSION");
    }
}
