//! Multipart bodies (RFC 2046, section 5.1), read and written in pieces.

mod error;
mod header;
mod parser;
mod reader;
mod writer;

pub use error::MultipartError;
pub use header::{Headers, boundary, media_type, parameter, raw_parameter};
pub use parser::{Event, Parser};
pub use reader::Reader;
pub use writer::{Boundary, quoted};
