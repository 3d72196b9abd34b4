//! The time in which a certificate is valid.

use std::time::{Duration, SystemTime};
use yasna::models::{GeneralizedTime, UTCTime};
use yasna::tags::TAG_UTCTIME;
use yasna::{ASN1Result, BERReader, BERReaderSeq};

/// The first and the last second of a certificate, since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    from: u64,
    until: u64,
}

impl Validity {
    /// Reads the field `validity` of a certificate in DER (RFC 5280, section 4.1).
    pub fn of(certificate: &[u8]) -> Option<Self> {
        let read = yasna::parse_der(certificate, |certificate| {
            certificate.read_sequence(|fields| {
                let validity = fields.next().read_sequence(|fields| {
                    // The version, the serial number, the algorithm and the issuer.
                    for _ in 0..4 {
                        fields.next().read_der()?;
                    }
                    let validity = fields.next().read_sequence(|times| {
                        let (from, until) = (seconds(times.next())?, seconds(times.next())?);
                        Ok((from, until))
                    })?;
                    skip_rest(fields)?;
                    Ok(validity)
                })?;
                skip_rest(fields)?;
                Ok(validity)
            })
        });
        let (from, until) = read.ok()?;
        Some(Validity {
            from: from.try_into().ok()?,
            until: until.try_into().ok()?,
        })
    }

    /// When the certificate shall be renewed: after two thirds of its time.
    pub fn renewal(self) -> SystemTime {
        let wait = self.until.saturating_sub(self.from) / 3 * 2;
        at(self.from.saturating_add(wait))
    }

    /// Whether it has expired.
    pub fn is_over(self, now: SystemTime) -> bool {
        at(self.until) < now
    }

    /// The end, as text.
    pub fn end(self) -> String {
        httpdate::fmt_http_date(at(self.until))
    }
}

fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

fn seconds(time: BERReader<'_, '_>) -> ASN1Result<i64> {
    if time.lookahead_tag()? == TAG_UTCTIME {
        time.read_utctime()
            .map(|time: UTCTime| time.datetime().unix_timestamp())
    } else {
        time.read_generalized_time()
            .map(|time: GeneralizedTime| time.datetime().unix_timestamp())
    }
}

fn skip_rest(fields: &mut BERReaderSeq<'_, '_>) -> ASN1Result<()> {
    while fields.read_optional(|field| field.read_der())?.is_some() {}
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn certificate(from: (i32, u8, u8), until: (i32, u8, u8)) -> Vec<u8> {
        let mut made = rcgen::CertificateParams::new(["a.example".to_owned()]).unwrap();
        made.not_before = rcgen::date_time_ymd(from.0, from.1, from.2);
        made.not_after = rcgen::date_time_ymd(until.0, until.1, until.2);
        let key = rcgen::KeyPair::generate().unwrap();
        made.self_signed(&key).unwrap().der().to_vec()
    }

    #[test]
    fn both_forms_of_times_are_read() {
        let validity = Validity::of(&certificate((2026, 1, 1), (2026, 1, 31))).unwrap();
        assert_eq!(validity.end(), "Sat, 31 Jan 2026 00:00:00 GMT");
        let renewal = httpdate::fmt_http_date(validity.renewal());
        assert_eq!(renewal, "Wed, 21 Jan 2026 00:00:00 GMT");
        assert!(validity.is_over(SystemTime::now()));
        // From 2050 on a time is a GeneralizedTime.
        let long = Validity::of(&certificate((2026, 1, 1), (2060, 1, 1))).unwrap();
        assert_eq!(long.end(), "Thu, 01 Jan 2060 00:00:00 GMT");
        assert!(!long.is_over(SystemTime::now()));
        assert_eq!(Validity::of(b"no certificate"), None);
    }
}
