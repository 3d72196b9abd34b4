//! Functions shared by the applications: an HTTP listener, a graceful stop, and access to one SQLite file.
//!
//! | for | use |
//! | --- | --- |
//! | HTTP | [`HttpServer`]: connection limits, timeouts, graceful stop; [`Detachable`]: long answers with small buffers |
//! | TLS | [`CertificateFiles`]: a certificate that is read again when its files change |
//! | | [`acme::Acme`], with the feature `acme`: a certificate that is ordered from a certificate authority and renewed |
//! | the process | [`stop_at_signal`], [`start_log`] |
//! | writes to SQLite | [`WriteQueue`]: one writing thread, group commit |
//! | reads of SQLite | [`ReaderPool`]: connections that read snapshots |
//! | files | [`private`]: files that only their owner can read; [`copy_database`]: a backup of a database in use |

#[cfg(feature = "acme")]
pub mod acme;
mod backup;
mod http;
mod log;
pub mod private;
mod queue;
mod readers;
mod signals;
mod tls;

pub use backup::{BackupError, copy_database};
pub use http::{Answer, ConnectionLimits, Detachable, HttpServer, IsTls, Link, client_network};
pub use log::start_log;
pub use queue::{QueueCounts, QueueError, QueueLimits, WriteQueue};
pub use readers::{PoolClosed, ReaderPool, Writing};
pub use signals::{PROCESS_STOP_MAX, stop_at_signal};
pub use tls::{CertificateFiles, TlsAcceptor, TlsError, acceptor};
