//! Answers that are written page by page.

use super::{HttpResult, inlined, reply};
use crate::store::Database;
use axum::http::StatusCode;
use bytes::Bytes;
use futures_util::stream;

/// An answer that is written page by page.
pub trait Pages: Sized + Send + 'static {
    /// Writes the next page.
    fn write_page(&mut self, out: &mut Vec<u8>) -> impl Future<Output = HttpResult<()>> + Send;

    /// Returns whether the last page was written.
    fn is_done(&self) -> bool;

    /// Returns the database, which has the attachments that the pages leave out.
    fn database(&self) -> &Database;

    /// Returns whether the pages are several results, in an array of an object. The last page ends both.
    fn is_wrapped(&self) -> bool;

    /// Returns the answer: whole if it has one page, otherwise streamed. An error of the first page becomes the answer.
    ///
    /// # Errors
    /// Those of the first page.
    async fn answer(mut self) -> HttpResult {
        let mut out = Vec::with_capacity(8 << 10);
        if self.is_wrapped() {
            out.extend_from_slice(b"{\"results\":[");
        }
        self.write_page(&mut out).await?;
        if self.is_done() {
            return inlined::whole(self.database(), StatusCode::OK, out);
        }
        let db = self.database().clone();
        let first = Some(Bytes::from(out));
        let next = |(mut pages, first): (Self, Option<Bytes>)| async move {
            if let Some(first) = first {
                return Ok(Some((first, (pages, None))));
            }
            if pages.is_done() {
                return Ok(None);
            }
            let mut out = Vec::new();
            pages.write_page(&mut out).await?;
            Ok(Some((out.into(), (pages, None))))
        };
        let texts = stream::try_unfold((self, first), next);
        let body = reply::body(inlined::pieces(db, texts));
        Ok(reply::text(StatusCode::OK, body))
    }
}
