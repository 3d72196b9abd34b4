//! Measures how disturbed the machine is while a trial runs. Read from Linux's `/proc`; what can't be read is unobservable,
//! not zero.
//!
//! The CPUs are busy with the trial, with its servers, or with others. What others take is the busy time of the CPUs (with
//! the time that a hypervisor took) less the CPU time of the trial's process, its descendants and its servers. So it does
//! not matter how many writers a trial has.

use crate::results::Noise;
use inorder_engine::{cpu_s, process_tree};
use std::{
    collections::BTreeSet,
    fs,
    sync::mpsc::{self, RecvTimeoutError, Sender},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// Length of a window in which bursts of other processes are looked for.
const WINDOW: Duration = Duration::from_millis(500);
/// Share of the CPU time of a window above which others have had a burst in it.
const BURST_SHARE: f64 = 0.25;
/// Two clock ticks, by which the counts of CPUs and of processes may differ: each of them is cut off to whole ticks.
const ROUNDING_S: f64 = 0.02;
/// A shorter part of a trial is not judged apart.
const PART_MIN: Duration = Duration::from_millis(200);

/// Measures how disturbed the machine is while a trial runs.
pub struct NoiseMeter {
    /// Several writers wait for each other: waiting for other processes can't be told apart.
    is_crowd: bool,
    began: Instant,
    pressure_us: Option<u64>,
    schedule_ns: Option<(u64, u64)>,
    cpus: Option<CpuTimes>,
    others: Others,
}

impl NoiseMeter {
    /// Starts to measure, for a trial with this number of writers, whose servers have these processes.
    pub fn start(writers: u64, servers: &[u32]) -> Self {
        let roots: Vec<u32> = std::iter::once(std::process::id())
            .chain(servers.iter().copied())
            .collect();
        NoiseMeter {
            is_crowd: writers > 1,
            began: Instant::now(),
            pressure_us: cpu_pressure_us(),
            schedule_ns: schedule_ns(),
            cpus: CpuTimes::read(),
            others: Others::watch(roots),
        }
    }

    /// The disturbances since the start.
    pub fn finish(self) -> Noise {
        let elapsed_us = self.began.elapsed().as_micros() as f64;
        let steal = self.cpus.zip(CpuTimes::read());
        let (others_share, bursts_share) = self.others.finish();
        Noise {
            cpu_pressure: delta(self.pressure_us, cpu_pressure_us())
                .map(|us| us / elapsed_us)
                .filter(|_| !self.is_crowd),
            steal: steal.and_then(|(before, after)| {
                share(
                    Some((before.stolen, before.all)),
                    Some((after.stolen, after.all)),
                )
            }),
            load_per_core: None,
            wait_share: share(self.schedule_ns.map(swap), schedule_ns().map(swap))
                .filter(|_| !self.is_crowd),
            others_share,
            bursts_share,
        }
    }

    /// The disturbances of the first part of a trial, and of what followed as far as the machine tells them: the larger of
    /// each. `self` began with the second part.
    pub fn finish_after(self, first: Noise) -> Noise {
        if self.began.elapsed() < PART_MIN {
            return first;
        }
        let rest = self.finish();
        let larger = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (Some(a), Some(b)) => Some(a.max(b)),
            (a, b) => a.or(b),
        };
        Noise {
            steal: larger(first.steal, rest.steal),
            others_share: larger(first.others_share, rest.others_share),
            bursts_share: larger(first.bursts_share, rest.bursts_share),
            ..first
        }
    }
}

/// A thread that looks at what other processes take.
struct Others {
    stop: Sender<()>,
    watch: Option<JoinHandle<(Option<f64>, Option<f64>)>>,
}

impl Others {
    fn watch(roots: Vec<u32>) -> Self {
        let (stop, stopped) = mpsc::channel();
        let watch = thread::Builder::new()
            .name("noise".to_owned())
            .spawn(move || {
                let mut watched = Watched::start(Usage::read(&roots));
                while stopped.recv_timeout(WINDOW) == Err(RecvTimeoutError::Timeout) {
                    watched.look(Usage::read(&roots));
                }
                watched.finish(Usage::read(&roots))
            });
        Others {
            stop,
            watch: watch.ok(),
        }
    }

    /// The share of the CPU time that others took, and the share of windows in which they had a burst.
    fn finish(self) -> (Option<f64>, Option<f64>) {
        let _ = self.stop.send(());
        let found = self.watch.and_then(|watch| watch.join().ok());
        found.unwrap_or_default()
    }
}

/// What the CPUs and the trial did so far.
#[derive(Clone, Copy, Debug)]
struct Usage {
    cpus: CpuTimes,
    own_s: f64,
}

impl Usage {
    fn read(roots: &[u32]) -> Option<Self> {
        let own: BTreeSet<u32> = roots.iter().flat_map(|root| process_tree(*root)).collect();
        let own: Vec<u32> = own.into_iter().collect();
        Some(Usage {
            cpus: CpuTimes::read()?,
            own_s: cpu_s(&own)?,
        })
    }

    /// Share of the CPU time since `before` that others took; `None` where no time has passed.
    fn others_since(&self, before: &Usage) -> Option<f64> {
        let ticks = rustix::param::clock_ticks_per_second() as f64;
        let seconds = |now: u64, before: u64| now.saturating_sub(before) as f64 / ticks;
        let all_s = seconds(self.cpus.all, before.cpus.all);
        let busy_s = seconds(self.cpus.busy, before.cpus.busy);
        let others_s = busy_s - (self.own_s - before.own_s).max(0.0) - ROUNDING_S;
        (all_s > 0.0).then(|| others_s.max(0.0) / all_s)
    }
}

/// The windows of a trial.
struct Watched {
    first: Option<Usage>,
    last: Option<Usage>,
    windows: u32,
    bursts: u32,
}

impl Watched {
    fn start(now: Option<Usage>) -> Self {
        Watched {
            first: now,
            last: now,
            windows: 0,
            bursts: 0,
        }
    }

    /// Ends a window.
    fn look(&mut self, now: Option<Usage>) {
        let taken = self.last.zip(now);
        if let Some(taken) = taken.and_then(|(last, now)| now.others_since(&last)) {
            self.windows += 1;
            self.bursts += u32::from(taken > BURST_SHARE);
        }
        self.last = now.or(self.last);
    }

    /// The share of the CPU time that others took, and the share of windows with bursts.
    fn finish(self, now: Option<Usage>) -> (Option<f64>, Option<f64>) {
        let taken = self.first.zip(now);
        let taken = taken.and_then(|(first, now)| now.others_since(&first));
        let bursts = (self.windows > 0).then(|| f64::from(self.bursts) / f64::from(self.windows));
        (taken, bursts)
    }
}

/// Clock ticks since boot of the CPUs that this process may use (proc_stat(5)).
#[derive(Clone, Copy, Debug, PartialEq)]
struct CpuTimes {
    all: u64,
    /// All but `idle` and `iowait`.
    busy: u64,
    stolen: u64,
}

impl CpuTimes {
    fn read() -> Option<Self> {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let allowed = status
            .lines()
            .find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        let stat = fs::read_to_string("/proc/stat").ok()?;
        Self::parse(&stat, allowed.and_then(cpu_list).as_ref())
    }

    /// The sum over the CPUs of the list; over all without one.
    fn parse(stat: &str, allowed: Option<&BTreeSet<u32>>) -> Option<Self> {
        let mut sum: Option<CpuTimes> = None;
        for line in stat.lines() {
            let Some((number, fields)) = line.strip_prefix("cpu").and_then(|l| l.split_once(' '))
            else {
                continue;
            };
            let is_wanted = match (number.parse::<u32>(), allowed) {
                (Ok(number), Some(allowed)) => allowed.contains(&number),
                (Ok(_), None) => true,
                // The sum over all CPUs has no number.
                (Err(_), _) => false,
            };
            if !is_wanted {
                continue;
            }
            // user, nice, system, idle, iowait, irq, softirq, steal; guests are in user and nice.
            let fields: Vec<u64> = fields
                .split_whitespace()
                .take(8)
                .map(str::parse)
                .collect::<Result<_, _>>()
                .ok()?;
            let [_, _, _, idle, iowait, _, _, stolen] = fields[..] else {
                return None;
            };
            let all: u64 = fields.iter().sum();
            let before = sum.unwrap_or(CpuTimes {
                all: 0,
                busy: 0,
                stolen: 0,
            });
            sum = Some(CpuTimes {
                all: before.all + all,
                busy: before.busy + all - idle - iowait,
                stolen: before.stolen + stolen,
            });
        }
        sum
    }
}

/// The numbers of a list such as `0-3,8` (cpuset(7), "List format").
fn cpu_list(text: &str) -> Option<BTreeSet<u32>> {
    let mut all = BTreeSet::new();
    for range in text.trim().split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        all.extend(first.parse::<u32>().ok()?..=last.parse::<u32>().ok()?);
    }
    Some(all)
}

fn swap((a, b): (u64, u64)) -> (u64, u64) {
    (b, a)
}

fn delta(before: Option<u64>, after: Option<u64>) -> Option<f64> {
    Some(after?.saturating_sub(before?) as f64)
}

/// Growth of the first over growth of the second; `None` where nothing grew.
fn share(before: Option<(u64, u64)>, after: Option<(u64, u64)>) -> Option<f64> {
    let (before, after) = (before?, after?);
    let whole = after.1.saturating_sub(before.1);
    (whole > 0).then(|| after.0.saturating_sub(before.0) as f64 / whole as f64)
}

/// Microseconds in which some task waited for a CPU since boot: `total` of the line `some` (Linux,
/// `Documentation/accounting/psi.rst`, "Pressure interface").
fn cpu_pressure_us() -> Option<u64> {
    let text = fs::read_to_string("/proc/pressure/cpu").ok()?;
    let some = text.lines().find(|line| line.starts_with("some"))?;
    some.rsplit_once("total=")?.1.trim().parse().ok()
}

/// Nanoseconds that the main thread ran and waited on a run queue (`/proc/self/schedstat`; Linux,
/// `Documentation/scheduler/sched-stats.rst`, "/proc/<pid>/schedstat").
fn schedule_ns() -> Option<(u64, u64)> {
    let text = fs::read_to_string("/proc/self/schedstat").ok()?;
    let mut fields = text.split_whitespace().map(str::parse);
    Some((fields.next()?.ok()?, fields.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Child, Command, Stdio};

    #[test]
    fn a_share_of_nothing_is_unobservable() {
        assert_eq!(share(Some((1, 10)), Some((1, 10))), None);
        assert_eq!(share(Some((1, 10)), Some((2, 14))), Some(0.25));
        assert_eq!(share(None, Some((2, 14))), None);
    }

    #[test]
    fn lists_of_cpus_are_read() {
        let list = |text| cpu_list(text).map(|found| found.into_iter().collect::<Vec<_>>());
        assert_eq!(list("\t0-1\n"), Some(vec![0, 1]));
        assert_eq!(list("0,2-3,8"), Some(vec![0, 2, 3, 8]));
        assert_eq!(list(""), None);
        assert_eq!(list("all"), None);
    }

    #[test]
    fn only_cpus_that_the_trial_may_use_count_and_stolen_time_is_busy() {
        let stat = "cpu  9 9 9 9 9 9 9 9 0 0\n\
                    cpu0 10 1 2 100 50 3 4 5 7 0\n\
                    cpu1 1000 0 0 0 0 0 0 0 0 0\n\
                    intr 5\n";
        let first = CpuTimes {
            all: 175,
            busy: 25,
            stolen: 5,
        };
        assert_eq!(
            CpuTimes::parse(stat, Some(&BTreeSet::from([0]))),
            Some(first)
        );
        let both = CpuTimes::parse(stat, None).unwrap();
        assert_eq!((both.all, both.busy), (1175, 1025));
        assert_eq!(CpuTimes::parse("cpu0 1 2 3\n", None), None);
        assert_eq!(CpuTimes::parse("intr 5\n", None), None);
    }

    /// Usage after so many ticks of two CPUs, of which so many were busy, and so many seconds of the trial's.
    fn usage(all: u64, busy: u64, own_s: f64) -> Option<Usage> {
        let cpus = CpuTimes {
            all,
            busy,
            stolen: 0,
        };
        Some(Usage { cpus, own_s })
    }

    #[test]
    fn what_the_trial_takes_is_not_others_whatever_its_number_of_writers() {
        let ticks = rustix::param::clock_ticks_per_second() as f64;
        for own in [0, 50, 100, 190] {
            for others in [0, 5, 60, 100] {
                let busy = (own + others).min(200);
                let before = usage(1000, 500, 7.0).unwrap();
                let after = usage(1200, 500 + busy, 7.0 + own as f64 / ticks).unwrap();
                let seen = after.others_since(&before).unwrap();
                let wanted = (busy - own) as f64 / 200.0;
                assert!((seen - wanted).abs() < 0.011, "{own} {others}: {seen}");
            }
        }
    }

    #[test]
    fn a_burst_is_seen_where_the_whole_is_quiet() {
        let mut watched = Watched::start(usage(0, 0, 0.0));
        let mut busy = 0;
        for window in 1..=100 {
            busy += if window == 40 || window == 41 { 80 } else { 0 };
            watched.look(usage(100 * window, busy, 0.0));
        }
        let (whole, bursts) = watched.finish(usage(10_000, busy, 0.0));
        assert!(whole.unwrap() < 0.02, "{whole:?}");
        assert_eq!(bursts, Some(0.02));
        // Nothing could be read in between.
        let mut blind = Watched::start(None);
        blind.look(None);
        assert_eq!(blind.finish(None), (None, None));
    }

    /// A process that takes a CPU, as a child of this one.
    fn busy_loop() -> Child {
        let mut shell = Command::new("/bin/sh");
        let shell = shell.args(["-c", "while :; do :; done"]);
        shell.stdin(Stdio::null()).spawn().unwrap()
    }

    /// Other tests and builds may run beside this one, so only what the busy loop adds is certain.
    #[test]
    fn a_busy_loop_is_others_unless_it_belongs_to_the_trial() {
        let mut loop_ = busy_loop();
        // The loop's own tree stands for a trial; then a process that does nothing does.
        let (own, none) = (vec![loop_.id()], vec![u32::MAX]);
        let (begin, begin_none) = (Usage::read(&own).unwrap(), Usage::read(&none).unwrap());
        // Beside others, a loop may take long to get so much time.
        for _ in 0..60 {
            thread::sleep(Duration::from_millis(500));
            if Usage::read(&own).unwrap().own_s - begin.own_s > 0.3 {
                break;
            }
        }
        let (end, end_none) = (Usage::read(&own).unwrap(), Usage::read(&none).unwrap());
        loop_.kill().unwrap();
        loop_.wait().unwrap();
        let took_s = end.own_s - begin.own_s;
        let with = end_none.others_since(&begin_none).unwrap();
        let without = end.others_since(&begin).unwrap();
        let ticks = rustix::param::clock_ticks_per_second() as f64;
        let all_s = (end.cpus.all - begin.cpus.all) as f64 / ticks;
        assert!(took_s > 0.1, "the loop ran for {took_s} s");
        assert!(
            with * all_s > took_s - 0.1,
            "{with} of {all_s} s, loop {took_s} s"
        );
        let difference_s = (with - without) * all_s;
        assert!(
            (difference_s - took_s).abs() < 0.1,
            "{difference_s} of {took_s} s"
        );
    }

    #[test]
    fn several_writers_hide_no_other_process() {
        let mut others = [busy_loop(), busy_loop()];
        // The loops are children of this process: as servers of another trial they would be its own.
        let watch = Others::watch(vec![u32::MAX]);
        thread::sleep(Duration::from_millis(2200));
        let (share, bursts) = watch.finish();
        for other in &mut others {
            other.kill().unwrap();
            other.wait().unwrap();
        }
        assert!(share.unwrap() > 0.2, "{share:?}");
        assert!(bursts.unwrap() > 0.4, "{bursts:?}");
        let noise = NoiseMeter::start(4, &[]).finish();
        assert!(noise.cpu_pressure.is_none() && noise.wait_share.is_none());
        assert!(noise.others_share.is_some() || noise.steal.is_none());
    }
}
