//! Selects rows of a column by index.

use crate::Column;

impl Column {
    /// Returns a column of the same variant whose row `i` is row `picks[i]` of this one.
    ///
    /// # Panics
    /// If an index is not below the column's length.
    pub fn gather(&self, picks: &[u32]) -> Self {
        match self {
            Column::Integers(values) => Column::Integers(gather_values(values, picks)),
            Column::Reals(values) => Column::Reals(gather_values(values, picks)),
            Column::Fixed {
                width_bytes,
                bytes,
                is_text,
            } => Column::Fixed {
                width_bytes: *width_bytes,
                bytes: gather_fixed(bytes, *width_bytes, picks),
                is_text: *is_text,
            },
            Column::Spans {
                pool,
                spans,
                is_text,
            } => Column::Spans {
                pool: pool.clone(),
                spans: gather_values(spans, picks),
                is_text: *is_text,
            },
            Column::Any(values) => {
                Column::Any(picks.iter().map(|&i| values[i as usize].clone()).collect())
            }
        }
    }
}

fn gather_values<T: Copy>(values: &[T], picks: &[u32]) -> Vec<T> {
    picks.iter().map(|&i| values[i as usize]).collect()
}

/// Copies values with common widths as constants, so that the compiler generates a few moves instead of a call.
fn gather_fixed(bytes: &[u8], width_bytes: usize, picks: &[u32]) -> Vec<u8> {
    match width_bytes {
        8 => gather_arrays::<8>(bytes, picks),
        16 => gather_arrays::<16>(bytes, picks),
        20 => gather_arrays::<20>(bytes, picks),
        26 => gather_arrays::<26>(bytes, picks),
        36 => gather_arrays::<36>(bytes, picks),
        40 => gather_arrays::<40>(bytes, picks),
        width => {
            let mut gathered = Vec::with_capacity(width * picks.len());
            for &i in picks {
                gathered.extend_from_slice(&bytes[i as usize * width..][..width]);
            }
            gathered
        }
    }
}

fn gather_arrays<const WIDTH: usize>(bytes: &[u8], picks: &[u32]) -> Vec<u8> {
    gather_values(bytes.as_chunks::<WIDTH>().0, picks).into_flattened()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_width_is_gathered_alike() {
        for width_bytes in 1..=45 {
            let bytes: Vec<u8> = (0..3).flat_map(|row| vec![row; width_bytes]).collect();
            let column = Column::Fixed {
                width_bytes,
                bytes,
                is_text: false,
            };
            let Column::Fixed { bytes, .. } = column.gather(&[2, 0, 2, 1]) else {
                panic!("the variant changed");
            };
            let rows: Vec<u8> = bytes.chunks(width_bytes).map(|row| row[0]).collect();
            assert_eq!(rows, [2, 0, 2, 1]);
            assert_eq!(bytes.len(), 4 * width_bytes);
        }
    }
}
