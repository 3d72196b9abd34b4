//! The requested revisions and the format of a document.

use crate::http::params::Params;
use crate::http::{HttpError, HttpResult};
use crate::revision::Revision;
use crate::store::{AttachmentOption, GetOptions};
use axum::http::{HeaderMap, header};

/// Reads the options of documents in a list.
pub fn shown_options(params: &Params) -> GetOptions {
    GetOptions {
        conflicts: params.is_true("conflicts"),
        att_encoding_info: params.is_true("att_encoding_info"),
        attachments: if params.is_true("attachments") {
            AttachmentOption::Inline
        } else {
            AttachmentOption::Stubs
        },
        ..GetOptions::default()
    }
}

/// Reads the options of a single document.
pub fn get_options(params: &Params) -> HttpResult<GetOptions> {
    let meta = params.is_true("meta");
    let mut options = GetOptions {
        revision: params.get("rev").map(str::parse).transpose()?,
        latest: params.is_true("latest"),
        revs: params.is_true("revs"),
        revs_info: meta || params.is_true("revs_info"),
        deleted_conflicts: meta || params.is_true("deleted_conflicts"),
        local_seq: params.is_true("local_seq"),
        ..shown_options(params)
    };
    options.conflicts |= meta;
    if options.revision.is_some() || params.get("open_revs").is_some() {
        // As in CouchDB, named revisions come without what describes the document.
        options.conflicts = false;
        options.deleted_conflicts = false;
        options.revs_info = false;
        options.local_seq = false;
    }
    if let Some(since) = params.get("atts_since") {
        options.attachments = AttachmentOption::InlineSince(revision_list("atts_since", since)?);
    }
    Ok(options)
}

/// Reads a parameter that is a JSON list of revisions.
///
/// # Errors
/// If it is not a list of revisions.
pub fn revision_list(name: &str, text: &str) -> HttpResult<Vec<Revision>> {
    let list: Vec<serde_json::Value> = serde_json::from_str(text)
        .map_err(|error| HttpError::BadJson(format!("{name}: {error}")))?;
    let revision = |value: serde_json::Value| {
        let revision = value.as_str().unwrap_or_default().parse();
        revision.map_err(HttpError::from)
    };
    list.into_iter().map(revision).collect()
}

/// The media types that a client accepts.
#[derive(Debug)]
pub struct Accepts(Option<String>);

impl Accepts {
    /// Reads the header `Accept`.
    pub fn of(headers: &HeaderMap) -> Self {
        let accept = headers.get(header::ACCEPT);
        Accepts(
            accept
                .and_then(|value| value.to_str().ok())
                .map(str::to_ascii_lowercase),
        )
    }

    /// Returns whether the client accepts a type, by name or by a wildcard. Without the header it accepts all types.
    pub fn allows(&self, media_type: &str) -> bool {
        let Some(accept) = &self.0 else {
            return true;
        };
        let group = media_type.split('/').next().unwrap_or_default();
        types(accept).any(|found| {
            found == media_type || found == "*/*" || found.strip_suffix("/*") == Some(group)
        })
    }

    /// Returns whether the header names a type.
    pub fn lists(&self, media_type: &str) -> bool {
        let accept = self.0.as_deref().unwrap_or_default();
        types(accept).any(|found| found == media_type)
    }
}

fn types(accept: &str) -> impl Iterator<Item = &str> {
    let ranges = accept.split(',');
    let wanted = ranges.filter(|range| {
        let quality = crate::multipart::parameter(range, "q");
        quality
            .and_then(|q| q.parse::<f32>().ok())
            .is_none_or(|q| q > 0.0)
    });
    wanted.map(crate::multipart::media_type)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn accepted_types_are_read() {
        let of = |text: &'static str| {
            let value = HeaderValue::from_static(text);
            Accepts::of(&HeaderMap::from_iter([(header::ACCEPT, value)]))
        };
        let mixed = "multipart/mixed";
        assert!(of("text/html, */*;q=0.8").allows(mixed));
        assert!(of("Multipart/*").allows(mixed) && !of("Multipart/*").lists(mixed));
        assert!(of("application/json,multipart/mixed; q=0.5").lists(mixed));
        assert!(!of("application/json").allows(mixed));
        assert!(!of("*/*;q=0").allows(mixed));
        assert!(Accepts::of(&HeaderMap::new()).allows(mixed));
        assert!(!Accepts::of(&HeaderMap::new()).lists(mixed));
    }

    #[test]
    fn meta_asks_for_three_things() {
        let options = get_options(&Params::parse("meta=true")).unwrap();
        assert!(options.conflicts && options.deleted_conflicts && options.revs_info);
        assert_eq!(
            get_options(&Params::default()).unwrap(),
            GetOptions::default()
        );
        assert!(get_options(&Params::parse("rev=x")).is_err());
        // As in CouchDB, another value than true is none.
        assert_eq!(
            get_options(&Params::parse("revs=1&meta=yes&attachments=")).unwrap(),
            GetOptions::default()
        );
    }
}
