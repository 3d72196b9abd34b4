//! Renders the made-up run, to look at.
#[path = "../tests/report/sample.rs"]
mod sample;
use inorder_bench::report::{Format, Options, render_with};

fn main() {
    let format = std::env::args().nth(1).unwrap_or_else(|| "term".into());
    let color = std::env::args().nth(2).is_some();
    let width = std::env::args().nth(3).map_or(100, |w| w.parse().unwrap());
    let format = Format::from_name(&format).unwrap();
    let options = Options { color, width };
    print!(
        "{}",
        render_with(&sample::run(), sample::CLAIMS, format, &options).unwrap()
    );
}
