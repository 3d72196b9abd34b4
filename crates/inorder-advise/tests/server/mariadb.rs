//! MariaDB: indexes that may go and indexes that must stay.
