//! Finds the row of the input that has the key which another row was refused for.

use std::path::Path;

use super::mapping;
use crate::Error;
use crate::encode::Encoder;
use crate::order::Origin;
use crate::row_writer::WritePlan;
use crate::rows::{Clash, Inputs};
use crate::source::{Meter, Row, STDIN};

/// Returns the first row of the input, other than the refused one, that has its key.
///
/// `None` if the input can't be read again, or no row has the key.
pub(super) fn other_row(
    plan: &WritePlan<'_>,
    encoder: &mut Encoder,
    clash: &Clash,
) -> Option<Origin> {
    let job = plan.job;
    if job
        .inputs
        .iter()
        .any(|input| input.path == Path::new(STDIN))
    {
        return None;
    }
    let order = plan.destination.order_by(&clash.key, &plan.record)?;
    let mut inputs = Inputs::new(job, Meter::default());
    let mut version = None;
    let mut row = Row::default();
    while inputs.is_open().ok()? {
        match inputs.read(&mut row) {
            Ok(true) => {}
            Ok(false) | Err(Error::Malformed { .. }) => continue,
            Err(_) => return None,
        }
        if version != Some(inputs.columns_version()) {
            version = Some(inputs.columns_version());
            encoder.bind(mapping::sources(plan, &inputs.header()).ok()?);
        }
        let origin = inputs.origin(&row);
        // Rows that were refused by themselves are none of the table's.
        if origin != clash.origin
            && let Ok(record) = encoder.encode(&row)
            && order.compare(record, &clash.record).is_eq()
        {
            return Some(origin);
        }
    }
    None
}
