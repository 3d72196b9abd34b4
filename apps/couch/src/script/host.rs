//! The process that functions run in: it has no files, no environment of the server, little memory, and ends with the server.

use super::function::Kind;
use super::sandbox::Script;
use super::wire::{self, Answer, Failure, Head};
use rustix::process::{DumpableBehavior, Resource, Rlimit};
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::io;
use std::process::ExitCode;
use std::sync::mpsc::{self, Receiver};
use std::thread;

/// The stack of the thread that runs functions; QuickJS has a part of it.
const STACK_BYTES: usize = 4 << 20;

/// Runs functions for the server whose pipes stdin and stdout are, until stdin ends. The process has so many bytes of memory.
///
/// A separate thread reads stdin. It ends the process even while a function runs that never returns.
pub fn run(memory_bytes_max: usize) -> ExitCode {
    let (send, requests) = mpsc::channel();
    let worker = thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || work(&requests));
    if worker.is_err() || confine(memory_bytes_max as u64).is_err() {
        return ExitCode::FAILURE;
    }
    // Reports that the host is ready.
    if tell(Ok("null".to_owned())).is_err() {
        return ExitCode::FAILURE;
    }
    let mut stdin = io::stdin().lock();
    while let Ok(Some(request)) = wire::read(&mut stdin) {
        if send.send(request).is_err() {
            break;
        }
    }
    // Exits without joining the other thread.
    std::process::exit(0)
}

/// Takes from this process what functions don't need, should one break out of QuickJS.
fn confine(memory_bytes_max: u64) -> io::Result<()> {
    // If memory runs out, the kernel should end this process and not the server.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    close_inherited()?;
    let limits = [
        // Nothing can be opened any more: no file, no socket.
        (Resource::Nofile, 0),
        (Resource::Fsize, 0),
        (Resource::Nproc, 0),
        (Resource::Core, 0),
        (Resource::Data, memory_bytes_max),
    ];
    for (resource, limit) in limits {
        let limit = Rlimit {
            current: Some(limit),
            maximum: Some(limit),
        };
        rustix::process::setrlimit(resource, limit)?;
    }
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    Ok(rustix::thread::set_no_new_privs(true)?)
}

/// Closes what the server inherited itself; its own files close by themselves.
fn close_inherited() -> io::Result<()> {
    let mut open = Vec::new();
    for entry in std::fs::read_dir("/proc/self/fd")? {
        let name = entry?.file_name();
        open.extend(name.to_str().and_then(|name| name.parse::<i32>().ok()));
    }
    for file in open.into_iter().filter(|file| *file > 2) {
        // One of them was the folder itself, which is closed already.
        let _ = nix::unistd::close(file);
    }
    Ok(())
}

/// A function as it came, and compiled.
struct Loaded {
    kind: Kind,
    source: String,
    design: String,
    script: Option<Script>,
}

impl Loaded {
    /// The function, with so many bytes of heap.
    fn script(&mut self, heap_bytes_max: usize) -> Result<&Script, Failure> {
        if let Some(script) = &self.script {
            script.set_heap(heap_bytes_max);
        } else {
            self.script = Some(Script::new(
                self.kind,
                &self.source,
                &self.design,
                heap_bytes_max,
            )?);
        }
        self.script
            .as_ref()
            .ok_or_else(|| Failure::Failed(String::new()))
    }
}

fn work(requests: &Receiver<Vec<String>>) {
    let mut functions = HashMap::new();
    for request in requests {
        if answer(&request, &mut functions).is_err() {
            // The server is gone, or this is none of its requests.
            std::process::exit(1);
        }
    }
}

fn answer(request: &[String], functions: &mut HashMap<u32, Loaded>) -> io::Result<()> {
    let malformed = || io::Error::other("this is no request");
    let (head, mut rest) = request.split_first().ok_or_else(malformed)?;
    let head: Head = serde_json::from_str(head)?;
    if let Some(forgotten) = head.forgets {
        functions.remove(&forgotten);
    }
    if head.loads {
        let [source, design, arguments @ ..] = rest else {
            return Err(malformed());
        };
        rest = arguments;
        let mut loaded = Loaded {
            kind: head.kind,
            source: source.clone(),
            design: design.clone(),
            script: None,
        };
        let compiled = loaded.script(head.heap_bytes_max).map(drop);
        let is_compiled = compiled.is_ok();
        tell(compiled.map(|()| "null".to_owned()))?;
        if !is_compiled {
            return Ok(());
        }
        functions.insert(head.function, loaded);
    }
    let loaded = functions.get_mut(&head.function).ok_or_else(malformed)?;
    let (shared, own) = head.method.arguments();
    let (shared, calls) = rest.split_at_checked(shared).ok_or_else(malformed)?;
    for call in calls.chunks_exact(own) {
        let arguments: Vec<&str> = shared.iter().chain(call).map(String::as_str).collect();
        let script = loaded.script(head.heap_bytes_max);
        let result = script.and_then(|script| script.call(head.method, &arguments));
        let result = result.and_then(|value| match value.len() > head.answer_bytes_max as usize {
            true => Err(Failure::LargeAnswer),
            false => Ok(value),
        });
        let is_failure = result.is_err();
        if is_failure {
            // It may have filled its memory with what it keeps between calls.
            loaded.script = None;
        }
        tell(result)?;
        if is_failure && head.stops {
            break;
        }
    }
    Ok(())
}

fn tell(result: Result<String, Failure>) -> io::Result<()> {
    let answer = match result {
        Ok(value) => Answer::Value(RawValue::from_string(value)?),
        Err(failure) => Answer::Failure(failure),
    };
    wire::write(io::stdout().lock(), &[&serde_json::to_string(&answer)?])
}
