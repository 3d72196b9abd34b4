//! Markup that is made once and filled in for each row of a page.

use maud::{Markup, PreEscaped};

/// What stands before the place of a value. No message has it.
const MARK: char = '\u{1}';

/// The usual length of a value.
const VALUE_BYTES: usize = 48;

/// Draws markup around a place. Returns what stands before and behind the place, in which no text of users stands.
pub fn around(draw: impl FnOnce(PreEscaped<&'static str>) -> Markup) -> (String, String) {
    let mut before = draw(PreEscaped("\u{1}")).into_string();
    // Texts of users before the place may have the character too.
    let Some(at) = before.rfind(MARK) else {
        return (before, String::new());
    };
    let behind = before.split_off(at).split_off(MARK.len_utf8());
    (before, behind)
}

/// Markup with places for `N` values.
pub struct Pattern<const N: usize> {
    start: String,
    /// The values in their order, each with the markup behind it.
    rest: Vec<(usize, String)>,
}

impl<const N: usize> Pattern<N> {
    /// Makes a pattern. `draw` is called once with what stands for the values. It may not depend on more than the values, since
    /// the pattern is used again.
    pub fn new(draw: impl FnOnce([&str; N]) -> Markup) -> Self {
        let letter = |at: usize| char::from(b'a' + at as u8);
        let marks: [String; N] = std::array::from_fn(|at| String::from_iter([MARK, letter(at)]));
        let markup = draw(marks.each_ref().map(String::as_str)).into_string();
        let mut parts = markup.split(MARK);
        let start = parts.next().unwrap_or_default().to_owned();
        let place = |part: &str| {
            let at = (0..N).find(|at| part.starts_with(letter(*at)))?;
            Some((at, part[1..].to_owned()))
        };
        Pattern {
            start,
            rest: parts.filter_map(place).collect(),
        }
    }

    /// The usual length of a row in bytes.
    pub fn bytes(&self) -> usize {
        let own = self.rest.iter().map(|(_, own)| own.len() + VALUE_BYTES);
        self.start.len() + own.sum::<usize>()
    }

    /// Appends the markup of a row to that of others. Its values are markup too.
    pub fn add(&self, values: &[&str; N], markup: &mut String) {
        markup.push_str(&self.start);
        for (at, own) in &self.rest {
            markup.push_str(values[*at]);
            markup.push_str(own);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use maud::html;

    #[test]
    fn what_stands_around_a_place_is_cut_at_the_last_mark() {
        let (before, behind) = around(|place| html! { p { "\u{1}é" } ol { (place) } b { "é" } });
        assert_eq!(before, "<p>\u{1}é</p><ol>");
        assert_eq!(behind, "</ol><b>é</b>");
        assert_eq!(
            around(|_| html! { p {} }),
            ("<p></p>".to_owned(), String::new())
        );
    }

    #[test]
    fn each_value_stands_in_its_places() {
        let pattern = Pattern::new(|[id, title]| {
            html! { p id={ "f" (id) } { (title) " <é> " b { (title) } } }
        });
        let rows = [["7", "A &amp; B"], ["8", ""]];
        let mut filled = String::new();
        for row in rows {
            pattern.add(&row, &mut filled);
        }
        assert_eq!(
            filled,
            "<p id=\"f7\">A &amp; B &lt;é&gt; <b>A &amp; B</b></p><p id=\"f8\"> &lt;é&gt; <b></b></p>"
        );
    }
}
