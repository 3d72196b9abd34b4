//! The picture of the file: what every table and index takes, before and after.

use super::{escaped, words};
use crate::advice::{Advice, TreeSize, tree_sizes};
use std::{collections::BTreeMap, fmt::Write as _};

/// B-trees that get a line of their own.
const LINES_MAX: usize = 60;
/// A part of the strip that is narrower than this has no name on it, in percent.
const NAMED_MIN: f64 = 6.0;
/// Colours of the tables, as the style has them.
const COLOURS: usize = 8;

/// A B-tree before and after; 0 bytes is none.
struct Line<'a> {
    size: &'a TreeSize,
    before: u64,
    after: Option<u64>,
}

/// The file as one bar before and one after.
pub(super) fn strips(advice: &Advice, out: &mut String) {
    let before = tree_sizes(&advice.database);
    if before.is_empty() {
        return;
    }
    let colours = colours(&before);
    *out += "<div class=\"strips\">\n";
    let about = if advice.estimate.is_some() {
        ", about"
    } else {
        ""
    };
    let total = advice.base_bytes();
    let after = advice.together.as_ref().map_or(0, |after| after.bytes);
    let whole = total.max(after).max(1);
    let bytes = [total, whole];
    strip(&format!("before{about}"), &before, bytes, &colours, out);
    if let Some(after) = &advice.together {
        let bytes = [after.bytes, whole];
        strip(&format!("after{about}"), &after.trees, bytes, &colours, out);
    }
    *out += "</div>\n";
}

/// The largest tables have a colour each, in the order of their size.
fn colours(sizes: &[TreeSize]) -> BTreeMap<&str, usize> {
    let mut tables: BTreeMap<&str, u64> = BTreeMap::new();
    for size in sizes {
        *tables.entry(&size.table).or_default() += size.bytes;
    }
    let mut order: Vec<(&str, u64)> = tables.into_iter().collect();
    order.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    order
        .into_iter()
        .take(COLOURS)
        .enumerate()
        .map(|(colour, (table, _))| (table, colour + 1))
        .collect()
}

/// All B-trees of a file beside each other, tables with their indexes, and what else is in it. The first bytes are those of
/// the file, the others those of a whole bar.
fn strip(
    name: &str,
    sizes: &[TreeSize],
    [bytes, whole]: [u64; 2],
    colours: &BTreeMap<&str, usize>,
    out: &mut String,
) {
    let sum: u64 = sizes.iter().map(|size| size.bytes).sum();
    let percent = |part: u64| 100.0 * part as f64 / whole as f64;
    _ = write!(
        out,
        "<div class=\"strip\"><span class=\"label\">{name} {}</span><div class=\"bar\">",
        words::bytes(bytes)
    );
    let mut sizes: Vec<&TreeSize> = sizes.iter().collect();
    sizes.sort_by_key(|size| {
        (
            colours
                .get(size.table.as_str())
                .copied()
                .unwrap_or(COLOURS + 1),
            size.index.is_some(),
        )
    });
    for size in sizes {
        let percent = percent(size.bytes);
        let text = if percent >= NAMED_MIN {
            escaped(short(size))
        } else {
            String::new()
        };
        _ = write!(
            out,
            "<i class=\"c{}{}\" style=\"width:{percent:.3}%\" title=\"{}: {}\">{text}</i>",
            colours.get(size.table.as_str()).copied().unwrap_or(0),
            if size.index.is_some() { " index" } else { "" },
            escaped(&full(size)),
            words::bytes(size.bytes),
        );
    }
    let other = bytes.saturating_sub(sum);
    if other > 0 {
        _ = write!(
            out,
            "<i class=\"c0\" style=\"width:{:.3}%\" title=\"schema and free pages: {}\"></i>",
            percent(other),
            words::bytes(other),
        );
    }
    *out += "</div></div>\n";
}

/// A line for each B-tree, the largest first.
pub(super) fn lines(advice: &Advice, out: &mut String) {
    let before = tree_sizes(&advice.database);
    let after = advice
        .together
        .as_ref()
        .map(|together| together.trees.as_slice());
    let lines = sorted(&before, after);
    let Some(largest) = lines.first().map(|line| line.largest().max(1)) else {
        return;
    };
    let colours = colours(&before);
    *out += "<h2>What every table and index takes</h2>\n<div class=\"trees\">\n";
    for line in lines.iter().take(LINES_MAX) {
        let colour = colours.get(line.size.table.as_str()).copied().unwrap_or(0);
        let bar = |bytes: u64, name: &str| {
            if bytes == 0 {
                return "<i></i>".to_owned();
            }
            let width = 100.0 * bytes as f64 / largest as f64;
            format!("<i class=\"c{colour} {name}\" style=\"width:{width:.2}%\"></i>")
        };
        _ = writeln!(
            out,
            "<div class=\"tree\"><span class=\"name\">{}</span><span class=\"bars\">{}{}</span>\
             <span class=\"size\">{}</span></div>",
            escaped(&full(line.size)),
            bar(line.before, "before"),
            line.after
                .map_or(String::new(), |after| bar(after, "after")),
            words::figure(advice, line.figure()),
        );
    }
    if lines.len() > LINES_MAX {
        let rest: u64 = lines[LINES_MAX..].iter().map(|line| line.before).sum();
        let count = lines.len() - LINES_MAX;
        _ = writeln!(
            out,
            "<p class=\"note\">{count} smaller ones take {}.</p>",
            words::bytes(rest)
        );
    }
    *out += "</div>\n";
    if after.is_some() {
        *out += "<p class=\"note\">The upper bar is the file after VACUUM, the lower one the file after the changes.</p>\n";
    }
}

/// The B-trees of both files, the largest first.
fn sorted<'a>(before: &'a [TreeSize], after: Option<&'a [TreeSize]>) -> Vec<Line<'a>> {
    let find = |sizes: &[TreeSize], wanted: &TreeSize| {
        let mut sizes = sizes.iter();
        let found = sizes.find(|size| size.table == wanted.table && size.index == wanted.index);
        found.map_or(0, |size| size.bytes)
    };
    let old = before.iter().map(|size| Line {
        size,
        before: size.bytes,
        after: after.map(|after| find(after, size)),
    });
    let made = after
        .unwrap_or_default()
        .iter()
        .filter(|size| find(before, size) == 0);
    let made = made.map(|size| Line {
        size,
        before: 0,
        after: Some(size.bytes),
    });
    let mut lines: Vec<Line<'_>> = old.chain(made).collect();
    lines.sort_by_key(|line| std::cmp::Reverse(line.largest()));
    lines
}

impl Line<'_> {
    fn largest(&self) -> u64 {
        self.before.max(self.after.unwrap_or(0))
    }

    fn figure(&self) -> String {
        let before = words::bytes(self.before);
        match self.after {
            Some(0) => format!("{before} → gone"),
            Some(after) if after != self.before => format!("{before} → {}", words::bytes(after)),
            _ => before,
        }
    }
}

fn short(size: &TreeSize) -> &str {
    size.index.as_deref().unwrap_or(&size.table)
}

fn full(size: &TreeSize) -> String {
    match &size.index {
        Some(index) => format!("{} · {index}", size.table),
        None => size.table.clone(),
    }
}
