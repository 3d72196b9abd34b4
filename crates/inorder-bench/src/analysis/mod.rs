//! From the samples of a run to numbers: medians, curves, ratios between cells, and how far to trust them.

mod curves;
mod layers;
mod noise;
mod pairs;

pub use curves::Point;
pub(crate) use curves::marginal;
pub use layers::{APART_FROM, LayerCheck, layer_checks};
pub use noise::{is_noisy, noise_floor, noise_floor_as_measured, reference_spread};
pub(crate) use pairs::ratio_of_pairs;
pub use pairs::{ratio, ratio_as_measured, reference_exponent};
