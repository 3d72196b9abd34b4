//! Errors of multipart bodies.

/// The largest header of a part, in bytes.
pub const HEADER_BYTES_MAX: usize = 16 << 10;

/// Why a body is no multipart body.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MultipartError {
    /// The content type.
    #[error("the content type names no boundary of 1 to 70 characters")]
    BadBoundary,
    /// Before the first part.
    #[error("the first part doesn't begin: no line with the boundary")]
    NoStart,
    /// A part's header.
    #[error("a part's header fields are not `Name: value` lines")]
    BadHeader,
    /// A part's header.
    #[error("a part's header fields are longer than {HEADER_BYTES_MAX} bytes")]
    LongHeader,
    /// The end.
    #[error("the body ended within a part: the closing boundary is missing")]
    Cut,
    /// The source of the body failed.
    #[error("reading the body failed: {0}")]
    Read(String),
}
