//! The progress of a load, on stderr.

use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};
use inorder_load::{Phase, Progress};

const TICK: Duration = Duration::from_millis(200);

/// Loads that take less show nothing.
const SILENT: Duration = Duration::from_millis(800);

/// A thread that looks at the progress now and then.
pub struct Watch {
    end: Sender<()>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    pub fn start(progress: &Progress, is_quiet: bool) -> Self {
        let (end, ended) = channel();
        let progress = progress.clone();
        let thread = (!is_quiet).then(|| {
            std::thread::spawn(move || {
                let bar = bar();
                let began = Instant::now();
                while ended.recv_timeout(TICK).is_err() {
                    if began.elapsed() > SILENT {
                        show(&bar, &progress, began.elapsed());
                    }
                }
                bar.finish_and_clear();
            })
        });
        Watch { end, thread }
    }

    /// Takes the bar away.
    pub fn finish(mut self) {
        _ = self.end.send(());
        if let Some(thread) = self.thread.take() {
            _ = thread.join();
        }
    }
}

fn bar() -> ProgressBar {
    let bar = ProgressBar::new(1000);
    bar.set_draw_target(ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{bar:24.cyan/dim} {wide_msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}

fn show(bar: &ProgressBar, progress: &Progress, elapsed: Duration) {
    let (rows, written) = (progress.rows_read(), progress.rows_written());
    let seconds = elapsed.as_secs_f64();
    let message = match progress.phase() {
        Phase::Read => {
            let (read, total) = (progress.bytes_read(), progress.bytes_total());
            bar.set_position(read * 1000 / total.max(read).max(1));
            let left = match total {
                0 => String::new(),
                total => {
                    let left = seconds * total.saturating_sub(read) as f64 / read.max(1) as f64;
                    format!(", {left:.0} s to read left")
                }
            };
            format!(
                "reading: {} rows, {}, {} rows/s{left}",
                HumanCount(rows),
                HumanBytes(read),
                HumanCount((rows as f64 / seconds) as u64)
            )
        }
        Phase::Sort => format!("sorting {} rows", HumanCount(rows)),
        Phase::Write => {
            bar.set_position(written * 1000 / rows.max(1));
            format!(
                "writing: {} of {} rows",
                HumanCount(written),
                HumanCount(rows)
            )
        }
        Phase::Finish => {
            bar.set_position(1000);
            "building keys and indexes after the load".to_owned()
        }
    };
    bar.set_message(message);
}
