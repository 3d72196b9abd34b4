//! Common parts of all drawings.

use super::canvas::LOOKS;

/// A drawn plot.
pub struct Figure {
    /// Entries of the legend: the symbol of [`super::defs()`] beside a name, and the name.
    pub legend: Vec<(String, String)>,
    /// The drawings with their titles; the title of an only one is empty.
    pub panels: Vec<(String, String)>,
}

/// Width of a drawing in its own units. On a wide page a unit is about a pixel; on a phone the style
/// sheet sets larger type, for which the margins leave room.
pub const WIDTH: f64 = 480.0;

/// Width of a small multiple.
pub const PANEL_WIDTH: f64 = 330.0;

/// The class that gives a name its colour.
pub fn look(index: usize) -> String {
    format!("s{}", index % LOOKS)
}

/// Hatchings beside the plain one: a class `hatch1` and up draws with `#hatch1` and up.
pub(super) const HATCHES: &[&str] = &[
    r#"<path d="M-1 1l2-2M0 8l8-8M7 9l2-2"/>"#,
    r#"<path d="M4 0v8"/>"#,
    r#"<path d="M-1 7l2 2M0 0l8 8M7-1l2 2"/>"#,
    r#"<path d="M0 4h8M4 0v8"/>"#,
];

/// The symbol beside the name of a series of dots; a tail is hollow.
pub fn dot_name(group: usize, is_tail: bool) -> String {
    format!("{}-{}", if is_tail { "hole" } else { "dot" }, look(group))
}
