//! Which row of the input has a key that another was refused for.

use std::path::Path;

use super::batch::Clash;
use super::inputs::Inputs;
use super::job::Job;
use super::plan::Plan;
use crate::Error;
use crate::destination::Destination;
use crate::encode::Encoder;
use crate::order::Origin;
use crate::source::{Meter, Row, STDIN};

/// The first row of the input but the refused one that has its key. Nothing where the input can't be read once
/// more, or no row has it.
pub(super) fn other(
    job: &Job,
    destination: &Destination,
    plan: &Plan,
    encoder: &mut Encoder,
    clash: &Clash,
) -> Option<Origin> {
    if job
        .inputs
        .iter()
        .any(|input| input.path == Path::new(STDIN))
    {
        return None;
    }
    let order = destination.order_by(&clash.key, &plan.record)?;
    let mut inputs = Inputs::new(
        &job.inputs,
        &job.settings,
        job.columns.as_deref(),
        Meter::default(),
    );
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
            encoder.bind(&plan.places(destination, &inputs.header()).ok()?);
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
