//! What drawings share: markers, hatchings and the small drawings beside names, once per page or file.

use super::{
    canvas::{LOOKS, marker},
    dots,
    figure::{HATCHES, dot_name, look},
    strips,
};

/// Half the width of a marker.
const RADIUS: f64 = 4.0;
/// That of a dot.
const DOT: f64 = 4.6;
/// The groups that a plot of dots can have; the style sheet has as many.
const DOT_GROUPS: usize = 3;

/// What every kind of drawing refers to: the classes `marked` and `hatch…`, and the symbols of legends and gauges.
pub fn all() -> String {
    let mut out =
        String::from(r#"<svg class="defs" width="0" height="0" aria-hidden="true"><defs>"#);
    out += &of_lines();
    for (at, hatch) in HATCHES.iter().enumerate() {
        let id = at + 1;
        out += &format!(
            r#"<pattern id="hatch{id}" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="scale(2)">{hatch}</pattern>"#
        );
    }
    for at in 0..LOOKS {
        out += &bar(at);
    }
    for group in 0..DOT_GROUPS {
        for is_tail in [false, true] {
            out += &dot(group, is_tail);
        }
    }
    out + &strips::symbols() + dots::GAUGE + "</defs></svg>"
}

/// What lines refer to.
pub(super) fn of_lines() -> String {
    let mut out = String::new();
    for at in 0..LOOKS {
        let (look, shape) = (look(at), marker(at, RADIUS));
        out += &marker_of(&format!("mark-{look}"), &look, &shape);
        out += &format!(
            r#"<g id="line-{look}" class="{look}"><path class="line" transform="scale(.5)" d="M0 14h60"/><path class="mark" transform="translate(15 7)" d="{shape}"/></g>"#
        );
    }
    out
}

/// A marker for paths in halves.
fn marker_of(id: &str, class: &str, shape: &str) -> String {
    format!(
        r#"<marker id="{id}" class="{class}" markerUnits="userSpaceOnUse"><path class="mark" transform="scale(2)" d="{shape}"/></marker>"#
    )
}

fn bar(at: usize) -> String {
    let look = look(at);
    let line = r#"transform="scale(.5)" d="M0 14h60""#;
    let hatch = match at % (HATCHES.len() + 1) {
        0 => String::new(),
        hatch => format!(r#"<path class="bar hatch{hatch}" {line}/>"#),
    };
    format!(r#"<g id="bar-{look}"><path class="bar {look}" {line}/>{hatch}</g>"#)
}

/// The marker of dots, and the symbol of their legend.
fn dot(group: usize, is_tail: bool) -> String {
    let name = dot_name(group, is_tail);
    let shape = marker(group, DOT);
    let class = match is_tail {
        true => format!("hollow {}", look(group)),
        false => look(group),
    };
    marker_of(&format!("mark-{name}"), &class, &shape)
        + &format!(
            r#"<g id="{name}" class="{class}"><path class="mark" transform="translate(8 7)" d="{shape}"/></g>"#
        )
}
