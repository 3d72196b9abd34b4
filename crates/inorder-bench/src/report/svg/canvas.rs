//! The text of an SVG drawing.

use std::fmt::{self, Display, Write};

/// Colours, dashes, markers and hatchings there are; names beyond them start again.
pub const LOOKS: usize = 8;

/// A drawing that grows.
pub struct Canvas {
    out: String,
}

/// A coordinate: one decimal is a tenth of a pixel.
pub struct Number(pub f64);

impl Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rounded = (self.0 * 10.0).round() / 10.0 + 0.0;
        write!(f, "{rounded}")
    }
}

/// The anchor of a text.
#[derive(Clone, Copy)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

impl Canvas {
    pub fn new() -> Self {
        Canvas { out: String::new() }
    }

    pub fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let (x1, y1, x2, y2) = (Number(from.0), Number(from.1), Number(to.0), Number(to.1));
        self.push(format_args!(
            r#"<line class="{class}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>"#
        ));
    }

    pub fn rect(&mut self, class: &str, at: (f64, f64), size: (f64, f64), title: &str) {
        let (x, y, width, height) = (Number(at.0), Number(at.1), Number(size.0), Number(size.1));
        self.push(format_args!(
            r#"<rect class="{class}" x="{x}" y="{y}" width="{width}" height="{height}""#
        ));
        self.close("rect", title);
    }

    pub fn path(&mut self, class: &str, data: &str, title: &str) {
        self.push(format_args!(r#"<path class="{class}" d="{data}""#));
        self.close("path", title);
    }

    pub fn text(&mut self, class: &str, at: (f64, f64), anchor: Anchor, text: &str) {
        let (x, y) = (Number(at.0), Number(at.1));
        let anchor = match anchor {
            // As without the attribute.
            Anchor::Start => "",
            Anchor::Middle => r#" text-anchor="middle""#,
            Anchor::End => r#" text-anchor="end""#,
        };
        self.push(format_args!(
            r#"<text class="{class}" x="{x}" y="{y}"{anchor}>{}</text>"#,
            Escaped(text)
        ));
    }

    /// Opens a group; `data` are attributes for the page's script.
    pub fn open(&mut self, class: &str, data: &[(&str, &str)]) {
        self.push(format_args!(r#"<g class="{class}""#));
        for (name, value) in data {
            self.push(format_args!(r#" data-{name}="{}""#, Escaped(value)));
        }
        self.push(format_args!(">"));
    }

    pub fn title(&mut self, title: &str) {
        self.push(format_args!("<title>{}</title>", Escaped(title)));
    }

    pub fn shut(&mut self) {
        self.push(format_args!("</g>"));
    }

    /// Draws another drawing over this one.
    pub fn append(&mut self, other: Canvas) {
        self.out.push_str(&other.out);
    }

    /// Returns the drawing, for use in another one.
    pub fn into_text(self) -> String {
        self.out
    }

    /// The whole drawing; `about` is read out by a screen reader.
    pub fn into_svg(self, class: &str, width: f64, height: f64, about: &str) -> String {
        format!(
            r#"<svg class="{class}" viewBox="0 0 {} {}" role="img" tabindex="0" aria-label="{}">{}</svg>"#,
            Number(width),
            Number(height),
            Escaped(about),
            self.out
        )
    }

    /// A drawing that only repeats what the text beside it says.
    pub fn into_icon(self, width: f64, height: f64) -> String {
        let (width, height) = (Number(width), Number(height));
        format!(
            r#"<svg class="icon" preserveAspectRatio="none" viewBox="0 0 {width} {height}" width="{width}" height="{height}" aria-hidden="true">{}</svg>"#,
            self.out
        )
    }

    fn push(&mut self, text: fmt::Arguments<'_>) {
        // Writing to a String never fails.
        let _ = self.out.write_fmt(text);
    }

    fn close(&mut self, element: &str, title: &str) {
        if title.is_empty() {
            self.push(format_args!("/>"));
        } else {
            self.push(format_args!(
                "><title>{}</title></{element}>",
                Escaped(title)
            ));
        }
    }
}

/// The data of a path through these points.
pub fn polyline(points: impl IntoIterator<Item = (f64, f64)>) -> String {
    let mut data = String::new();
    for (x, y) in points {
        let command = if data.is_empty() { 'M' } else { 'L' };
        let _ = write!(data, "{command}{} {}", Number(x), Number(y));
    }
    data
}

/// The data of a marker; each look has its own shape, so that colour is never alone.
pub fn marker(look: usize, (x, y): (f64, f64), r: f64) -> String {
    let polygon = |corners: &[(f64, f64)]| {
        polyline(corners.iter().map(|(dx, dy)| (x + dx * r, y + dy * r))) + "Z"
    };
    match look % LOOKS {
        0 => circle((x, y), r),
        1 => polygon(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
        2 => polygon(&[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)]),
        3 => polygon(&[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)]),
        4 => polygon(&[(0.0, 1.2), (1.1, -0.8), (-1.1, -0.8)]),
        5 => polygon(&[(-1.2, -0.5), (1.2, -0.5), (1.2, 0.5), (-1.2, 0.5)]),
        6 => polygon(&[(-0.5, -1.2), (0.5, -1.2), (0.5, 1.2), (-0.5, 1.2)]),
        _ => polygon(&[
            (0.0, -1.3),
            (1.2, -0.3),
            (0.7, 1.1),
            (-0.7, 1.1),
            (-1.2, -0.3),
        ]),
    }
}

/// The data of a circle.
pub fn circle((x, y): (f64, f64), r: f64) -> String {
    let (left, y, r, d) = (Number(x - r), Number(y), Number(r), Number(2.0 * r));
    let back = Number(-2.0 * r.0);
    format!("M{left} {y}a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 {back} 0Z")
}

/// Text that is safe between tags and in attributes.
pub struct Escaped<'a>(pub &'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for char in self.0.chars() {
            match char {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                _ => f.write_char(char)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_short() {
        assert_eq!(polyline([(0.0, -0.04), (12.345, 7.0)]), "M0 0L12.3 7");
    }

    #[test]
    fn text_is_escaped() {
        let mut canvas = Canvas::new();
        canvas.text("a", (1.0, 2.0), Anchor::End, "<b> & \"c\"");
        assert_eq!(
            canvas.out,
            r#"<text class="a" x="1" y="2" text-anchor="end">&lt;b&gt; &amp; &quot;c&quot;</text>"#
        );
    }
}
