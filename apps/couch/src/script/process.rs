//! A script host as the server has it: a child process that is killed when a function does not return.

use super::function::Function;
use super::wire::{self, Answer, Failure, Head, Method};
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::{Instant, sleep_until, timeout};

/// The hidden subcommand that makes the program a host.
pub const SUBCOMMAND: &str = "script-host";

/// Compiled functions in one process.
const FUNCTIONS_MAX: usize = 16;

/// The maximum size of the message of a host that is ready.
const READY_BYTES_MAX: u32 = 1 << 10;

/// The maximum size of an answer without its value.
const FRAME_BYTES_MAX: u32 = 64 << 10;

/// A process that doesn't say that it is ready by then is no host.
const START_MAX: Duration = Duration::from_secs(10);

/// The lowest priority there is.
const NICE_MAX: i32 = 19;

/// Calls of one function.
#[derive(Debug, Clone, Copy)]
pub struct Calls<'a> {
    pub function: &'a Function,
    pub method: Method,
    /// Arguments that are the same in all calls.
    pub shared: &'a [&'a str],
    /// The other arguments, call by call.
    pub own: &'a [&'a str],
    /// The time limit of a call, where it is shorter than that of all functions.
    pub time_max: Option<Duration>,
}

impl Calls<'_> {
    /// Bytes of the function, and of the arguments of the largest call.
    pub fn json_bytes(&self) -> usize {
        let bytes = |texts: &[&str]| texts.iter().map(|text| text.len()).sum::<usize>();
        let own = self.own.chunks(self.method.arguments().1).map(bytes).max();
        self.function.bytes() + bytes(self.shared) + own.unwrap_or(0)
    }

    /// The number of calls.
    pub fn count(&self) -> usize {
        self.own.len() / self.method.arguments().1
    }

    /// Some of them.
    pub fn slice(&self, from: usize, to: usize) -> Self {
        let own = self.method.arguments().1;
        Calls {
            own: &self.own[from * own..to * own],
            ..*self
        }
    }
}

/// Why no more answers came.
#[derive(Debug)]
pub enum Ended {
    /// A call took longer than its limit.
    Timeout,
    /// A call took long, and was not given more time.
    Evicted,
    /// The process is gone or talks nonsense.
    Died(io::Error),
}

impl From<io::Error> for Ended {
    fn from(error: io::Error) -> Self {
        Ended::Died(error)
    }
}

/// What a call may take.
#[derive(Debug, Clone, Copy)]
pub struct CallLimits {
    /// After that it is slow.
    pub slow: Duration,
    /// After that it is ended.
    pub time_max: Duration,
    /// Bytes of heap.
    pub heap_bytes_max: usize,
    /// Bytes of its answer.
    pub answer_bytes_max: u32,
}

/// A process; killed when it is dropped.
#[derive(Debug)]
pub struct Process {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    /// Functions it has, by their number there; the one called last is at the end.
    functions: Vec<(u32, Function)>,
    next_number: u32,
    is_slow: bool,
    memory_bytes_max: usize,
}

impl Process {
    /// Starts one with so many bytes of memory.
    ///
    /// # Errors
    /// If the program can't be started, or is no script host.
    pub async fn start(program: &Path, memory_bytes_max: usize) -> io::Result<Self> {
        let mut child = Command::new(program)
            .arg(SUBCOMMAND)
            .arg(memory_bytes_max.to_string())
            .env_clear()
            // The allocator takes 1 GiB of addresses at its start. Without this it could also write to them, so that they would count
            // as memory, and a host has less.
            .env("MIMALLOC_ARENA_EAGER_COMMIT", "0")
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // Signals of a terminal are the server's: it ends its hosts itself.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let pipe = || io::Error::other("the script host has no pipes");
        let stdin = child.stdin.take().ok_or_else(pipe)?;
        let stdout = child.stdout.take().ok_or_else(pipe)?;
        let mut stdout = BufReader::new(stdout);
        // The start of the process does not count towards the first function's time limit.
        timeout(START_MAX, read_answer(&mut stdout, READY_BYTES_MAX)).await??;
        Ok(Process {
            child,
            stdin,
            stdout,
            functions: Vec::new(),
            next_number: 0,
            is_slow: false,
            memory_bytes_max,
        })
    }

    /// The bytes of memory that it was started with.
    pub fn memory_bytes_max(&self) -> usize {
        self.memory_bytes_max
    }

    /// Whether one of its calls was slow: it has lost its priority for good.
    pub fn is_slow(&self) -> bool {
        self.is_slow
    }

    /// Makes the calls, and adds to `answers` what comes back: less than one per call only when the function can't be
    /// compiled, or fails and no more calls are made. When a call turns slow, `more_time` says whether it may go on.
    ///
    /// # Errors
    /// Why there are no more answers. The process is of no use then, and likewise when the future is dropped.
    pub async fn call(
        &mut self,
        calls: Calls<'_>,
        limits: CallLimits,
        answers: &mut Vec<Answer>,
        mut more_time: impl FnMut() -> bool,
    ) -> Result<(), Ended> {
        let (head, request) = self.request(calls, limits)?;
        let pid = self.child.id();
        let expected = calls.count() + usize::from(head.loads);
        let (stdin, stdout) = (&mut self.stdin, &mut self.stdout);
        // It reads all before it answers, but while it compiles or is starved, it reads nothing.
        let mut sending = std::pin::pin!(async {
            stdin.write_all(&request).await?;
            stdin.flush().await
        });
        // What a host puts around an answer does not count.
        let bytes_max = limits.answer_bytes_max.saturating_add(FRAME_BYTES_MAX);
        let mut is_sent = false;
        for at in 0..expected {
            let begun = Instant::now();
            let mut reading = std::pin::pin!(read_answer(stdout, bytes_max));
            let mut end = begun + limits.slow.min(limits.time_max);
            let answer = loop {
                tokio::select! {
                    answer = &mut reading => break answer?,
                    sent = &mut sending, if !is_sent => {
                        sent?;
                        is_sent = true;
                    }
                    () = sleep_until(end) => {
                        if Instant::now() >= begun + limits.time_max {
                            return Err(Ended::Timeout);
                        }
                        if !more_time() {
                            return Err(Ended::Evicted);
                        }
                        self.is_slow = true;
                        lower_priority(pid);
                        end = begun + limits.time_max;
                    }
                }
            };
            let is_refused = matches!(answer, Answer::Failure(Failure::Compile(_)));
            if at > 0 || !head.loads {
                let is_last = head.stops && matches!(answer, Answer::Failure(_));
                answers.push(answer);
                if is_last {
                    break;
                }
            } else if is_refused {
                answers.push(answer);
                return Ok(());
            } else {
                let known = (head.function, calls.function.clone());
                self.functions.push(known);
            }
        }
        if !is_sent {
            sending.await?;
        }
        Ok(())
    }

    /// The message, and its head.
    fn request(&mut self, calls: Calls<'_>, limits: CallLimits) -> io::Result<(Head, Vec<u8>)> {
        let known = self
            .functions
            .iter()
            .position(|(_, known)| known == calls.function);
        let mut head = Head {
            function: self.next_number,
            kind: calls.function.kind(),
            loads: known.is_none(),
            forgets: None,
            method: calls.method,
            stops: calls.method.stops(),
            heap_bytes_max: limits.heap_bytes_max,
            answer_bytes_max: limits.answer_bytes_max,
        };
        match known {
            Some(at) => {
                let known = self.functions.remove(at);
                head.function = known.0;
                self.functions.push(known);
            }
            None => {
                self.next_number += 1;
                if self.functions.len() >= FUNCTIONS_MAX {
                    head.forgets = Some(self.functions.remove(0).0);
                }
            }
        }
        let text = serde_json::to_string(&head)?;
        let mut texts = vec![text.as_str()];
        if head.loads {
            texts.extend([calls.function.source(), calls.function.design()]);
        }
        texts.extend(calls.shared);
        texts.extend(calls.own);
        let mut request = Vec::new();
        wire::push(&mut request, &texts)?;
        Ok((head, request))
    }
}

async fn read_answer(stdout: &mut BufReader<ChildStdout>, bytes_max: u32) -> io::Result<Answer> {
    let (texts, length) = (stdout.read_u32_le().await?, stdout.read_u32_le().await?);
    if texts != 1 || length > bytes_max {
        return Err(io::Error::other("the answer is too large"));
    }
    let mut text = vec![0; length as usize];
    stdout.read_exact(&mut text).await?;
    Ok(serde_json::from_slice(&text)?)
}

/// Lowers the priority: a function that does not return would otherwise slow down other processes.
fn lower_priority(pid: Option<u32>) {
    let pid = pid.and_then(|pid| i32::try_from(pid).ok());
    if let Some(group) = pid.and_then(rustix::process::Pid::from_raw) {
        // This affects all threads: the process has its own process group.
        let _ = rustix::process::setpriority_pgrp(Some(group), NICE_MAX);
    }
}
