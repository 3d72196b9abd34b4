//! SIGTERM and SIGINT.

use std::{io, thread, time::Duration};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// The longest time from the first signal to the end of the process. It is below the ten seconds after which container
/// runtimes send SIGKILL.
pub const PROCESS_STOP_MAX: Duration = Duration::from_millis(9500);

/// Returns a token that the first SIGTERM or SIGINT cancels.
///
/// The process exits with code 0 at the second signal, or [`PROCESS_STOP_MAX`] after the first one. Writes that were
/// acknowledged are durable in either case. The signals are handled on a thread of their own, so this works while the
/// server's threads are busy.
///
/// # Errors
/// If the thread or the signal handlers cannot be set up.
pub fn stop_at_signal() -> io::Result<CancellationToken> {
    let stop = CancellationToken::new();
    let stopped = stop.clone();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let (mut terminate, mut interrupt) = {
        let _within = runtime.enter();
        (
            signal(SignalKind::terminate())?,
            signal(SignalKind::interrupt())?,
        )
    };
    let signals = async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!("stopping");
        stopped.cancel();
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            () = tokio::time::sleep(PROCESS_STOP_MAX) => {}
        }
        tracing::warn!("stopped before all requests were answered");
        std::process::exit(0)
    };
    thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || runtime.block_on(signals))?;
    Ok(stop)
}
