//! Calls of functions, spread over processes.

use super::lane::{Lane, Owner, Places};
use super::process::{CallLimits, Calls, Ended, Process};
use super::verdict::LARGE_PARTS;
use super::wire::{Answer, Failure, Method, Thrown};
use super::{Function, ScriptError, ScriptLimits, Verdict};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, timeout};

/// The settings of functions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptSettings {
    /// The limits of a function.
    pub limits: ScriptLimits,
    /// The program that is started as script host, with [`SUBCOMMAND`](super::SUBCOMMAND).
    pub program: PathBuf,
}

impl Default for ScriptSettings {
    fn default() -> Self {
        ScriptSettings {
            limits: ScriptLimits::default(),
            // This program, even when its file was replaced by another version since.
            program: "/proc/self/exe".into(),
        }
    }
}

/// A call that exceeds this time continues with the lowest priority, if a process is free for it.
const SLOW_AFTER: Duration = Duration::from_millis(250);

/// Places for calls that have just begun, and for slow ones: of one owner, and of all.
const OWNER_PLACES: (usize, usize) = (16, 12);
const SERVER_PLACES: (usize, usize) = (32, 24);

/// A process that was not used for so long is ended; the server looks that often.
const IDLE_MAX: Duration = Duration::from_secs(30);
const IDLE_LOOK: Duration = Duration::from_secs(10);

/// Idle processes of all owners.
const IDLE_PROCESSES_MAX: usize = 16;

/// Calls that are sent to a process at once: more, the faster they are, so that others get their turn.
const CALLS_FIRST: usize = 4;
const CALLS_MAX: usize = 256;
const CALLS_TIME: Duration = Duration::from_millis(20);

/// The processes that run functions. Cheap to clone; all clones are one.
#[derive(Debug, Clone)]
pub struct Scripts(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    program: PathBuf,
    limits: RwLock<ScriptLimits>,
    /// The memory for large documents, in [`LARGE_PARTS`].
    large: Semaphore,
    lanes: Mutex<HashMap<Owner, Arc<Lane>>>,
    places: Arc<Places>,
    idle: AtomicUsize,
    /// Whether a task ends idle processes.
    is_watched: AtomicBool,
}

impl Scripts {
    /// Starts no process before there is a function to call.
    pub fn new(settings: ScriptSettings) -> Self {
        Scripts(Arc::new(Shared {
            program: settings.program,
            limits: RwLock::new(settings.limits),
            large: Semaphore::new(LARGE_PARTS),
            lanes: Mutex::default(),
            places: Arc::new(Places::new(SERVER_PLACES.0, SERVER_PLACES.1)),
            idle: AtomicUsize::new(0),
            is_watched: AtomicBool::new(false),
        }))
    }

    /// The limits as they are now.
    pub fn limits(&self) -> ScriptLimits {
        *self.0.limits.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the limits of the calls that begin from now on.
    pub fn set_limits(&self, limits: ScriptLimits) {
        *self
            .0
            .limits
            .write()
            .unwrap_or_else(PoisonError::into_inner) = limits;
    }

    /// Compiles a function, to see whether it can be.
    ///
    /// # Errors
    /// If it can't.
    pub async fn compile(&self, owner: &Owner, function: &Function) -> Result<(), ScriptError> {
        self.emits(owner, function, &[]).await.map(drop)
    }

    /// Runs a filter function on each document; `request` is CouchDB's request object. All values are JSON.
    ///
    /// # Errors
    /// If the function throws, or takes too much memory or time.
    pub async fn filter(
        &self,
        owner: &Owner,
        function: &Function,
        request: &str,
        documents: &[&str],
    ) -> Result<Vec<bool>, ScriptError> {
        let calls = Calls {
            function,
            method: Method::Filter,
            shared: &[request],
            own: documents,
            time_max: None,
        };
        self.call(owner, calls).await.into_iter().collect()
    }

    /// Whether a map function emits anything for each document (JSON).
    ///
    /// # Errors
    /// Those of [`Scripts::filter`].
    pub async fn emits(
        &self,
        owner: &Owner,
        function: &Function,
        documents: &[&str],
    ) -> Result<Vec<bool>, ScriptError> {
        let calls = Calls {
            function,
            method: Method::Map,
            shared: &[],
            own: documents,
            time_max: None,
        };
        self.call(owner, calls).await.into_iter().collect()
    }

    /// What a validation function says about each update: a document and the one before it, one after the other. All JSON; a
    /// document before may be `null`. After a function that was stopped nothing more is tried: its error is the last answer.
    pub async fn validate(
        &self,
        owner: &Owner,
        function: &Function,
        user: &str,
        security: &str,
        updates: &[&str],
    ) -> Vec<Result<Verdict, ScriptError>> {
        let calls = Calls {
            function,
            method: Method::Validate,
            shared: &[user, security],
            own: updates,
            time_max: None,
        };
        let thrown = self.call::<Option<(String, String)>>(owner, calls).await;
        let verdict = |thrown: Option<(String, String)>| match thrown {
            None => Ok(Verdict::Fine),
            Some((kind, reason)) => match kind.as_str() {
                "forbidden" => Ok(Verdict::Forbidden(reason)),
                "unauthorized" => Ok(Verdict::Unauthorized(reason)),
                _ => Err(ScriptError::Thrown { name: kind, reason }),
            },
        };
        thrown.into_iter().map(|it| it.and_then(verdict)).collect()
    }

    /// Calls a function that answers requests: `kind` is `show`, `list`, `update` or `rewrite`. `request` is CouchDB's request
    /// object, `input` the document, or the rows of a list; all JSON. The answer is an object: `error` with a name and a
    /// reason, or `answer` as CouchDB's functions give it, and `doc` of an update, or `rewrite`.
    ///
    /// # Errors
    /// If the function can't be compiled, or takes too much memory or time.
    pub async fn render(
        &self,
        owner: &Owner,
        function: &Function,
        kind: &str,
        request: &str,
        input: &str,
    ) -> Result<serde_json::Value, ScriptError> {
        let calls = Calls {
            function,
            method: Method::Render,
            shared: &[kind, request],
            own: &[input],
            time_max: None,
        };
        let missing = || ScriptError::Failed("it gave no answer".to_owned());
        let answers = self.call(owner, calls).await;
        answers.into_iter().next().unwrap_or_else(|| Err(missing()))
    }

    /// Runs the map functions of views on documents; each batch is a JSON array of them. The result of a batch has, for each
    /// document and each function, the rows it emits. Batches may have a shorter time limit.
    pub async fn index(
        &self,
        owner: &Owner,
        function: &Function,
        batches: &[&str],
        time_max: Option<Duration>,
    ) -> Vec<Result<Box<RawValue>, ScriptError>> {
        let calls = Calls {
            function,
            method: Method::Index,
            shared: &[],
            own: batches,
            time_max,
        };
        self.call(owner, calls).await
    }

    /// Runs reduce functions of views. A call has the number of the function, `reduce` or `rereduce`, and the values.
    ///
    /// # Errors
    /// If a function takes too much memory or time.
    pub async fn reduce(
        &self,
        owner: &Owner,
        function: &Function,
        calls: &[&str],
    ) -> Result<Vec<Box<RawValue>>, ScriptError> {
        let calls = Calls {
            function,
            method: Method::Reduce,
            shared: &[],
            own: calls,
            time_max: None,
        };
        self.call(owner, calls).await.into_iter().collect()
    }

    /// The answers to calls, up to the first that was stopped.
    async fn call<T: DeserializeOwned>(
        &self,
        owner: &Owner,
        calls: Calls<'_>,
    ) -> Vec<Result<T, ScriptError>> {
        let lane = self.0.lane(owner);
        let (mut results, mut at_once) = (Vec::with_capacity(calls.count()), CALLS_FIRST);
        loop {
            let from = results.len();
            let some = calls.slice(from, calls.count().min(from + at_once));
            let begun = Instant::now();
            let mut answers = Vec::with_capacity(some.count());
            let limits = self.limits_of(some);
            let ended = self.call_some(&lane, some, limits, &mut answers).await;
            let is_complete = answers.len() == some.count();
            results.extend(answers.into_iter().map(|answer| value(answer, limits)));
            if let Err(error) = ended {
                results.push(Err(error));
                return results;
            }
            let stops = calls.method.stops() && results.last().is_some_and(Result::is_err);
            if results.len() >= calls.count() || !is_complete || stops {
                return results;
            }
            at_once = match begun.elapsed() < CALLS_TIME {
                true => (at_once * 2).min(CALLS_MAX),
                false => (at_once / 2).max(1),
            };
        }
    }

    async fn call_some(
        &self,
        lane: &Arc<Lane>,
        calls: Calls<'_>,
        limits: CallLimits,
        answers: &mut Vec<Answer>,
    ) -> Result<(), ScriptError> {
        let memory_bytes_max = self.limits().process_bytes();
        let large = self.large(calls, limits.time_max).await?;
        let mut is_second = false;
        loop {
            let mut seat = Arc::clone(lane).seat(&self.0.places).await?;
            let mut process = match self.0.idle(lane).await {
                Some(process) if process.memory_bytes_max() == memory_bytes_max => process,
                _ => {
                    self.watch();
                    let started = Process::start(&self.0.program, memory_bytes_max);
                    started.await.map_err(|error| {
                        tracing::error!(%error, "no script host can be started");
                        ScriptError::Failed(format!("its process can't be started: {error}"))
                    })?
                }
            };
            let called = process.call(calls, limits, answers, || seat.turn_slow());
            match called.await {
                Ok(()) => {
                    // A large document may have left a large heap.
                    if !process.is_slow() && large.is_none() {
                        self.0.put(lane, process);
                    }
                    return Ok(());
                }
                Err(Ended::Timeout) => return Err(ScriptError::Timeout(limits.time_max)),
                Err(Ended::Evicted) => return Err(ScriptError::Busy),
                // It may have been ended from outside since its last call.
                Err(Ended::Died(_)) if !is_second => {
                    answers.clear();
                    is_second = true;
                }
                Err(Ended::Died(error)) => {
                    let reason = format!("its process ended: {error}");
                    return Err(ScriptError::Failed(reason));
                }
            }
        }
    }

    /// What each of some calls may take.
    fn limits_of(&self, calls: Calls<'_>) -> CallLimits {
        let (limits, bytes) = (self.limits(), calls.json_bytes());
        let time_max = limits.time(bytes);
        CallLimits {
            slow: SLOW_AFTER,
            time_max: calls.time_max.map_or(time_max, |own| own.min(time_max)),
            heap_bytes_max: limits.heap_bytes(bytes),
            answer_bytes_max: ScriptLimits::answer_bytes(calls.method, bytes),
        }
    }

    /// Waits for a share of the memory for large documents, if the calls have one.
    async fn large(
        &self,
        calls: Calls<'_>,
        time_max: Duration,
    ) -> Result<Option<SemaphorePermit<'_>>, ScriptError> {
        let Some(parts) = self.limits().large_parts(calls.json_bytes()) else {
            return Ok(None);
        };
        match timeout(time_max, self.0.large.acquire_many(parts)).await {
            Ok(Ok(permit)) => Ok(Some(permit)),
            _ => Err(ScriptError::Busy),
        }
    }

    /// Starts a task that ends idle processes, until there are none.
    fn watch(&self) {
        if self.0.is_watched.swap(true, Ordering::SeqCst) {
            return;
        }
        let shared = Arc::downgrade(&self.0);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(IDLE_LOOK).await;
                let Some(shared) = Weak::upgrade(&shared) else {
                    return;
                };
                if shared.end_idle() {
                    return;
                }
            }
        });
    }
}

impl Shared {
    fn lanes(&self) -> MutexGuard<'_, HashMap<Owner, Arc<Lane>>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lane(&self, owner: &Owner) -> Arc<Lane> {
        let mut lanes = self.lanes();
        if let Some(lane) = lanes.get(owner) {
            return Arc::clone(lane);
        }
        let lane = Arc::new(Lane::new(Places::new(OWNER_PLACES.0, OWNER_PLACES.1)));
        lanes.insert(owner.clone(), Arc::clone(&lane));
        lane
    }

    async fn idle(&self, lane: &Lane) -> Option<Process> {
        let process = lane.process().await?;
        self.idle.fetch_sub(1, Ordering::SeqCst);
        Some(process)
    }

    fn put(&self, lane: &Lane, process: Process) {
        let others = self.idle.fetch_add(1, Ordering::SeqCst);
        lane.put(process);
        if others >= IDLE_PROCESSES_MAX {
            let lanes = self.lanes();
            let idle = lanes
                .values()
                .filter_map(|lane| Some((lane.idle_since()?, lane)));
            if let Some((_, lane)) = idle.min_by_key(|(since, _)| *since) {
                self.forget(lane.end_oldest());
            }
        }
    }

    fn forget(&self, ended: usize) {
        self.idle.fetch_sub(ended, Ordering::SeqCst);
    }

    /// Ends processes that are not used any more; whether that was the end of it.
    fn end_idle(&self) -> bool {
        let mut lanes = self.lanes();
        lanes.retain(|_, lane| {
            self.forget(lane.end_idle(IDLE_MAX));
            Arc::strong_count(lane) > 1 || lane.idle_since().is_some()
        });
        if lanes.is_empty() {
            // The lock is held: the next call for a lane starts the watch again.
            self.is_watched.store(false, Ordering::SeqCst);
        }
        lanes.is_empty()
    }
}

fn value<T: DeserializeOwned>(answer: Answer, limits: CallLimits) -> Result<T, ScriptError> {
    match answer {
        Answer::Value(value) => serde_json::from_str(value.get())
            .map_err(|error| ScriptError::Failed(error.to_string())),
        Answer::Failure(Failure::Compile(reason)) => Err(ScriptError::Compile(reason)),
        Answer::Failure(Failure::Memory) => Err(ScriptError::Memory(limits.heap_bytes_max)),
        Answer::Failure(Failure::LargeAnswer) => {
            Err(ScriptError::LargeAnswer(limits.answer_bytes_max))
        }
        Answer::Failure(Failure::Failed(reason)) => Err(ScriptError::Failed(reason)),
        Answer::Failure(Failure::Thrown(Thrown { name, reason })) => {
            Err(ScriptError::Thrown { name, reason })
        }
    }
}
