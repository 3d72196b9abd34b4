//! Rows of a column in another order.

use inorder_engine::{Column, Value};

/// Permutes the rows of `column` by this order, which contains each row once.
pub(super) fn permute(column: &mut Column, order: &[u32]) {
    *column = match column {
        // Moved rather than cloned: a clone touches the counter of each shared value.
        Column::Any(values) => Column::Any(
            order
                .iter()
                .map(|&i| std::mem::replace(&mut values[i as usize], Value::Null))
                .collect(),
        ),
        ref other => other.gather(order),
    };
}
