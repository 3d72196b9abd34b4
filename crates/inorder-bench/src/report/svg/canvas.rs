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

impl Canvas {
    pub fn new() -> Self {
        Canvas { out: String::new() }
    }

    pub fn rect(&mut self, class: &str, at: (f64, f64), size: (f64, f64)) {
        let (x, y, width, height) = (Number(at.0), Number(at.1), Number(size.0), Number(size.1));
        self.push(format_args!(
            r#"<rect class="{class}" x="{x}" y="{y}" width="{width}" height="{height}"/>"#
        ));
    }

    pub fn path(&mut self, class: &str, data: &str) {
        self.push(format_args!(r#"<path class="{class}" d="{data}"/>"#));
    }

    /// A path of marks whose values are the cells of one column of the table behind the plot: its points, or its
    /// pieces where it has several, belong to the cells with a value, from top to bottom.
    pub fn marks(&mut self, class: &str, column: usize, data: &str) {
        self.push(format_args!(
            r#"<path class="{class}" data-c="{column}" d="{data}"/>"#
        ));
    }

    /// Draws a symbol of [`super::defs()`], moved to a place across.
    pub fn symbol(&mut self, id: &str, x: f64) {
        let x = Number(x);
        self.push(format_args!(r##"<use href="#{id}" x="{x}"/>"##));
    }

    /// A text; its size, colour and anchor are those of its class or of the group that it stands in.
    pub fn text(&mut self, class: &str, at: (f64, f64), text: &str) {
        self.push(format_args!("<text"));
        if !class.is_empty() {
            self.push(format_args!(r#" class="{class}""#));
        }
        for (name, value) in [("x", at.0), ("y", at.1)] {
            // As without the attribute.
            if value != 0.0 {
                self.push(format_args!(r#" {name}="{}""#, Number(value)));
            }
        }
        self.push(format_args!(">{}</text>", Escaped(text)));
    }

    /// Texts of one class, each with its place.
    pub fn texts(&mut self, class: &str, texts: &[((f64, f64), String)]) {
        if texts.is_empty() {
            return;
        }
        self.push(format_args!(r#"<g class="{class}">"#));
        for (at, text) in texts {
            self.text("", *at, text);
        }
        self.shut();
    }

    /// Opens a group whose origin is moved.
    pub fn open_at(&mut self, class: &str, (x, y): (f64, f64)) {
        let (x, y) = (Number(x), Number(y));
        self.push(format_args!(
            r#"<g class="{class}" transform="translate({x} {y})">"#
        ));
    }

    /// Opens a group of paths whose coordinates are whole halves, such as those of [`polyline`].
    pub fn open_halves(&mut self) {
        self.push(format_args!(r#"<g transform="scale(.5)">"#));
    }

    /// Opens a group of paths whose unit is a square of a strip; `fills` are the squares that the page's script draws.
    pub fn open_squares(&mut self, (x, y): (f64, f64), size: f64, fills: &str) {
        let (x, y, size) = (Number(x), Number(y), Number(size));
        self.push(format_args!(
            r#"<g class="squares" data-f="{fills}" transform="translate({x} {y})scale({size})">"#
        ));
    }

    pub fn shut(&mut self) {
        self.push(format_args!("</g>"));
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

    fn push(&mut self, text: fmt::Arguments<'_>) {
        // Writing to a String never fails.
        let _ = self.out.write_fmt(text);
    }
}

/// The data of a path through these points, in halves and from each point to the next.
pub fn polyline(points: impl IntoIterator<Item = (f64, f64)>) -> String {
    let mut data = String::new();
    let mut at = (0, 0);
    for (number, (x, y)) in points.into_iter().enumerate() {
        let next = (halves(x), halves(y));
        let (dx, dy) = (next.0 - at.0, next.1 - at.1);
        let command = match number {
            0 => "M",
            1 => "l",
            // A sign separates numbers too.
            _ if dx < 0 => "",
            _ => " ",
        };
        let space = if dy < 0 { "" } else { " " };
        let _ = write!(data, "{command}{dx}{space}{dy}");
        at = next;
    }
    data
}

/// A level line, in halves.
pub fn level(from: f64, to: f64, y: f64) -> String {
    let (from, to, y) = (halves(from), halves(to), halves(y));
    format!("M{from} {y}h{}", to - from)
}

fn halves(value: f64) -> i64 {
    (value * 2.0).round() as i64
}

/// The data of a marker around the origin; each look has its own shape, so that colour is never alone.
pub fn marker(look: usize, r: f64) -> String {
    let polygon = |corners: &[(f64, f64)]| {
        let corner = |(x, y): &(f64, f64)| format!("{} {}", Number(x * r), Number(y * r));
        let corners: Vec<String> = corners.iter().map(corner).collect();
        format!("M{}Z", corners.join("L"))
    };
    match look % LOOKS {
        0 => circle(r),
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

fn circle(r: f64) -> String {
    let (r, d) = (Number(r), Number(2.0 * r));
    let (left, back) = (Number(-r.0), Number(-d.0));
    format!("M{left} 0a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 {back} 0Z")
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
        let points = [(0.0, -0.04), (12.345, 7.0), (13.0, 6.5), (12.0, 7.0)];
        assert_eq!(polyline(points), "M0 0l25 14 1-1-2 1");
        assert_eq!(level(1.0, 3.46, 2.0), "M2 4h5");
    }

    #[test]
    fn text_is_escaped() {
        let mut canvas = Canvas::new();
        canvas.text("a", (1.0, 0.0), "<b> & \"c\"");
        assert_eq!(
            canvas.out,
            r#"<text class="a" x="1">&lt;b&gt; &amp; &quot;c&quot;</text>"#
        );
    }
}
