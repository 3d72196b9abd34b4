//! SQLite database files written page by page, bottom up, from records that come in order.
