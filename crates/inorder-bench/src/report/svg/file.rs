//! Writes plots as one SVG file, for pages that only show images.

use super::{
    canvas::{Canvas, Escaped, LOOKS},
    defs,
    figure::{Figure, WIDTH},
    lines,
};
use crate::report::plots::Plot;

/// Space around the drawing and between its plots.
const GAP: f64 = 24.0;
/// Height of a plot's title.
const TITLE: f64 = 26.0;
/// Height of a line of the legend, and width of its drawing.
const LEGEND: (f64, f64) = (24.0, 38.0);
/// Widest a character of a legend is.
const CHARACTER: f64 = 7.6;

const STYLE: &str = concat!(include_str!("drawing.css"), include_str!("file.css"));

/// Places plots side by side, each with its title and legend; `about` is what a screen reader reads out.
pub fn render(plots: &[(&Plot, Figure)], about: &str) -> String {
    let step = WIDTH + GAP;
    let width = GAP + step * plots.len() as f64;
    let height = TITLE + LEGEND.0 + lines::HEIGHT + 2.0 * GAP;
    let mut canvas = Canvas::new();
    canvas.rect("page", (0.0, 0.0), (width, height));
    let mut drawings = String::new();
    for (at, (plot, figure)) in plots.iter().enumerate() {
        let left = GAP + step * at as f64;
        let mark = match plot.is_withheld {
            true => " (loaded machine)",
            false => "",
        };
        let title = format!("{}{mark}", plot.title);
        let baseline = GAP + TITLE / 2.0;
        canvas.text("title", (left, baseline), &title);
        drawings += &legend(&mut canvas, figure, (left, GAP + TITLE));
        let corner = (left, GAP + TITLE + LEGEND.0);
        for (_, panel) in &figure.panels {
            drawings += &placed(panel, corner, (WIDTH, lines::HEIGHT));
        }
    }
    let (about, drawn, defs) = (Escaped(about), canvas.into_text(), defs::of_lines());
    format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-label="{about}"><style>{STYLE}</style><defs>{defs}</defs>{drawn}{drawings}</svg>"#
    ) + "\n"
}

/// Names the lines from left to right; returns the small drawings, which stand beside the names.
fn legend(canvas: &mut Canvas, figure: &Figure, (left, top): (f64, f64)) -> String {
    let mut drawings = String::new();
    let mut x = left;
    for (symbol, name) in figure.legend.iter().take(LOOKS) {
        let icon = format!(r##"<use href="#{symbol}"/>"##);
        drawings += &placed(&icon, (x, top), (30.0, 14.0));
        canvas.text("legend", (x + LEGEND.1, top + 11.5), name);
        x += LEGEND.1 + CHARACTER * (name.chars().count() + 2) as f64;
    }
    drawings
}

/// A drawing in a box of another.
fn placed(drawing: &str, (x, y): (f64, f64), (width, height): (f64, f64)) -> String {
    format!(r#"<svg x="{x}" y="{y}" width="{width}" height="{height}">{drawing}</svg>"#)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::plots::{Axis, Data, Lines, Panel, Point, Series};

    fn plot(is_withheld: bool) -> Plot {
        let axis = |title: &str| Axis {
            title: title.into(),
            unit: "bytes",
            is_log: false,
            ticks: None,
        };
        let point = |x| Point {
            x,
            y: x,
            low: x,
            high: x,
        };
        Plot {
            id: "p".into(),
            title: "A < B".into(),
            note: String::new(),
            is_withheld,
            metric: None,
            data: Data::Lines(Lines {
                x: axis("across"),
                y: axis("up"),
                names: vec!["only".into()],
                panels: vec![Panel {
                    title: String::new(),
                    series: vec![Series {
                        name: 0,
                        points: vec![point(1.0), point(2.0)],
                    }],
                }],
            }),
        }
    }

    #[test]
    fn every_element_is_closed_and_text_is_escaped() {
        let (quiet, noisy) = (plot(false), plot(true));
        let text = super::super::file(&[&quiet, &noisy], "about");
        for element in ["svg", "g", "style", "text"] {
            let opened = text.matches(&format!("<{element}")).count();
            let closed = text.matches(&format!("</{element}>")).count();
            assert_eq!(opened, closed, "{element}");
        }
        assert!(text.contains("A &lt; B</text>"));
        assert_eq!(text.matches("(loaded machine)").count(), 1);
    }
}
