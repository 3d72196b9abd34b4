//! Which cells share a line, and which lines share a panel.

use crate::{
    experiment::level,
    results::{Cell, Experiment},
};

/// The maximum number of distinguishable lines per panel.
const LINES_MAX: usize = 8;

/// Cells sorted into panels and lines.
pub(super) struct Facets<'a> {
    /// Names of the lines.
    pub names: Vec<String>,
    /// Titles of the panels; one empty title where there is only one panel.
    pub panels: Vec<String>,
    /// Each cell with the index of its panel and of its name.
    pub places: Vec<(usize, usize, &'a Cell)>,
}

/// Sorts cells by the levels of some factors. Where the lines are too many for one panel, the
/// factor with the fewest levels becomes panels, then the next.
pub(super) fn facets<'a>(
    experiment: &Experiment,
    cells: &[&'a Cell],
    factors: &[&str],
) -> Facets<'a> {
    let mut of_lines = factors.to_vec();
    let mut of_panels: Vec<&str> = Vec::new();
    while of_lines.len() > 1 && distinct(cells, &of_lines) > LINES_MAX {
        let fewest = (0..of_lines.len())
            .min_by_key(|at| distinct(cells, &of_lines[*at..=*at]))
            .unwrap_or(0);
        of_panels.push(of_lines.remove(fewest));
    }
    let is_whole = of_lines.len() == experiment.varied.len();
    let mut facets = Facets {
        names: Vec::new(),
        panels: Vec::new(),
        places: Vec::new(),
    };
    for cell in cells {
        let name = match is_whole {
            true => cell.label.clone(),
            false => words(cell, &of_lines),
        };
        let panel = place(&mut facets.panels, words(cell, &of_panels));
        let name = place(&mut facets.names, name);
        facets.places.push((panel, name, cell));
    }
    facets
}

/// Index of a name in a list, where it is put if it is new.
pub(super) fn place(list: &mut Vec<String>, name: String) -> usize {
    match list.iter().position(|known| *known == name) {
        Some(at) => at,
        None => {
            list.push(name);
            list.len() - 1
        }
    }
}

/// Different combinations of levels that some cells have.
fn distinct(cells: &[&Cell], factors: &[&str]) -> usize {
    let mut seen: Vec<String> = Vec::new();
    for cell in cells {
        place(&mut seen, words(cell, factors));
    }
    seen.len()
}

/// Formats the levels of some factors.
fn words(cell: &Cell, factors: &[&str]) -> String {
    let levels = factors
        .iter()
        .filter_map(|factor| level::words(factor, cell.levels.get(*factor)?));
    levels.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(a: usize, b: usize) -> Vec<Cell> {
        (0..a)
            .flat_map(|x| (0..b).map(move |y| (x, y)))
            .map(|(x, y)| Cell {
                label: format!("a{x}, {y}"),
                levels: [
                    ("a".to_owned(), format!("a{x}")),
                    ("b".to_owned(), y.to_string()),
                ]
                .into(),
                ..Cell::default()
            })
            .collect()
    }

    fn experiment() -> Experiment {
        Experiment {
            varied: vec!["a".into(), "b".into()],
            ..Experiment::default()
        }
    }

    #[test]
    fn few_cells_share_a_panel_under_their_labels() {
        let cells = cells(2, 4);
        let cells: Vec<&Cell> = cells.iter().collect();
        let facets = facets(&experiment(), &cells, &["a", "b"]);
        assert_eq!(facets.panels, [""]);
        assert_eq!(facets.names.len(), 8);
        assert_eq!(facets.names[0], "a0, 0");
    }

    #[test]
    fn many_cells_are_split_by_the_factor_with_fewest_levels() {
        let cells = cells(2, 5);
        let cells: Vec<&Cell> = cells.iter().collect();
        let facets = facets(&experiment(), &cells, &["a", "b"]);
        assert_eq!(facets.panels, ["a0", "a1"]);
        assert_eq!(facets.names, ["b 0", "b 1", "b 2", "b 3", "b 4"]);
        assert_eq!((facets.places[9].0, facets.places[9].1), (1, 4));
    }
}
