"""The steps of ./test: what each runs, what it needs, and how they run beside each other.

One thread per slot takes the next job that may start. Steps with `compiles` share Cargo's lock on the target folder, so
one of them runs at a time, in the order of the list. The step `tests` is one job per test binary.
One job more than there are processors runs at a time. Many jobs wait for servers or for the disk, so further ones start
while processors are idle (`idle.py`) and memory is free. What takes longest goes first, with the steps that wait for it: by the seconds of the
last run, or by those of `.ci/seconds.json` in a new checkout. Steps that are `alone` come last, one at a time.
Outside CI, a test binary is not run again if it passed with the same inputs (`passed.py`), except with `--all`.
"""

import dataclasses
import json
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time

import memory
from built import diagnostics, messages_of
from idle import Idle
from passed import Passed

ROOT = pathlib.Path(__file__).resolve().parent.parent
PYTHON = "/usr/bin/python3"  # Another one, found first, may have an sqlite3 module that loads no extensions.
SECONDS = ROOT / "target" / "test-seconds.json"  # Of each step and each test binary, when it last passed.
# The same of a run on two processors, where it was 5 or more. It gives the first run in a checkout its order.
FIRST_SECONDS = ROOT / ".ci" / "seconds.json"
# What Cargo says of what it built, warnings included: one JSON object per line.
BUILT = ROOT / "target" / "test-built.json"
EXTENSION_BUILT = ROOT / "target" / "test-built-extension.json"
PASSED = ROOT / "target" / "test-passed.json"  # The inputs with which each test binary passed last.
TEMPLATES = ROOT / "target" / "tmp" / "templates"  # Data folders of servers, prepared by tests.
JOB_SECONDS_MAX = 1800
STOP_SECONDS_MAX = 5  # Between SIGTERM and SIGKILL.
JOBS_PER_CORE_MAX = 3
# Lines of a failed job's output that are shown again at the end, where they are found.
FAILED_LINES = 40
DEAREST_JOBS = 15  # Named at the end with their CPU time.
# Feature unification: with the same packages selected, no crate is built twice.
WORKSPACE = "--locked --workspace --features inorder-cli/full"
EXTENSION = "--locked --manifest-path bindings/extension/Cargo.toml"
# Each crate is compiled once: Clippy compiles those of this repository, and `.ci/rustdoc` writes their documentation when it tests
# the examples. `cargo clippy` and `cargo doc` would compile all dependencies once more. No fuzz target runs, so none needs libFuzzer.
# PostgreSQL 18, which Debian 12 does not have. The step `engines` installs it.
ENGINES = subprocess.run([ROOT / ".ci" / "engines", "--folder"], capture_output=True, text=True, check=True).stdout.strip()
POSTGRES_18 = f"{ENGINES}/postgres-18/bin"
TOOLS = {"INORDER_TEST_POSTGRES_18": POSTGRES_18, "RUSTC_WORKSPACE_WRAPPER": "clippy-driver",
         "RUSTDOC": str(ROOT / ".ci" / "rustdoc"), "RUSTDOCFLAGS": "-Dwarnings",
         "CUSTOM_LIBFUZZER_PATH": str(ROOT / "target" / "fuzz-main" / "libmain.a")}


@dataclasses.dataclass(frozen=True)
class Step:
    """A command that must end with 0, or the test binaries of the workspace with these arguments."""

    name: str
    command: str = ""
    after: tuple[str, ...] = ()
    compiles: bool = False
    # Names of test binaries to run instead of a command; `*` is all of them.
    binaries: tuple[str, ...] = ()
    arguments: str = ""
    # Environment variables besides those of all steps.
    variables: tuple[tuple[str, str], ...] = ()
    # Whether it runs last and by itself, because it measures how long others wait.
    alone: bool = False
    output: pathlib.Path | None = None

    def shown(self):
        return self.command or f"test binaries {' '.join(self.binaries)} {self.arguments}".rstrip()


STEPS = [
    Step("install", ".ci/packages"),
    Step("engines", ".ci/engines", after=("install",)),
    Step("format", "cargo fmt --all --check"),
    Step("build", f"cargo test {WORKSPACE} --no-run --all-targets --message-format json", compiles=True, output=BUILT),
    Step("tests", after=("build", "engines"), binaries=("*",)),
    Step("postgres-18", after=("build", "engines"), binaries=("server",), arguments="postgres",
         variables=(("INORDER_POSTGRES", POSTGRES_18),)),
    Step("pouchdb-install", "npm ci --prefix apps/couch/tests/pouchdb --no-audit --no-fund", after=("install",)),
    Step("pouchdb", after=("build", "pouchdb-install"), binaries=("pouchdb",), arguments="--ignored pouchdb_ nano_"),
    Step("browser", after=("build", "pouchdb-install"), binaries=("browser", "pouchdb", "report"), arguments="--ignored browser_"),
    Step("old-sqlite", f"{PYTHON} crates/inorder-load/tests/old_sqlite.py", after=("build", "install")),
    Step("extension-format", "cargo fmt --manifest-path bindings/extension/Cargo.toml --check"),
    Step("extension-build", f"cargo build {EXTENSION} --release --message-format json", compiles=True, output=EXTENSION_BUILT),
    Step("lints", f"{PYTHON} .ci/built.py {BUILT} {EXTENSION_BUILT}", after=("build", "extension-build")),
    Step("extension", f"{PYTHON} -m unittest discover -s bindings/extension/tests", after=("extension-build", "install")),
    Step("packages", f"{PYTHON} -m unittest discover -s bindings/tests", after=("build", "extension")),
    Step("targets", ".ci/targets", compiles=True),
    Step("site", "site/build", after=("install",)),
    Step("sql", f"{PYTHON} -m unittest discover -s bindings/sql/tests", after=("build", "engines")),
    Step("plain", "cargo test --locked --workspace --test plain", after=("build", "install"), compiles=True),
    Step("doc", f"cargo test {WORKSPACE} --no-fail-fast --doc", after=("install",), compiles=True),
    Step("wedge", after=("build", "install"), binaries=("wedge",), alone=True),
]


@dataclasses.dataclass
class Job:
    """A process of a step."""

    step: Step
    title: str
    command: list[str]
    folder: pathlib.Path
    environment: dict[str, str]
    # What it is run with, if its result is remembered.
    key: str | None = None


def test_binaries():
    """Each test binary that Cargo built: its name, its package's folder, its path and the programs of the package."""
    built = [message for message in messages_of(BUILT) if message.get("executable")]
    for message in built:
        is_test = message["target"]["kind"][0] in ("lib", "bin", "test") and message["profile"]["test"]
        if is_test and message["manifest_path"] != str(ROOT / "fuzz" / "Cargo.toml"):
            same = [other["executable"] for other in built
                    if other["manifest_path"] == message["manifest_path"] and not other["profile"]["test"]]
            yield message["target"], pathlib.Path(message["manifest_path"]).parent, message["executable"], sorted(same)


def jobs_of(step, passed):
    """The processes of a step whose needs are met."""
    environment = dict(os.environ, **TOOLS, **dict(step.variables))
    if step.command:
        return [Job(step, step.name, shlex.split(step.command), ROOT, environment)]
    jobs = []
    elsewhere = {name for other in STEPS if other.alone for name in other.binaries}
    for target, folder, path, programs in test_binaries():
        is_named = target["name"] in step.binaries and target["kind"] == ["test"]
        if is_named or "*" in step.binaries and target["name"] not in elsewhere:
            title = f"{step.name}: {folder.name}/{pathlib.Path(target['src_path']).relative_to(folder)}"
            own = dict(environment, CARGO_MANIFEST_DIR=str(folder))
            key = passed.key(folder, [path, *programs], [step.arguments, step.variables])
            jobs.append(Job(step, title, [path, *shlex.split(step.arguments)], folder, own, key))
    return jobs


class Run:
    """Runs steps, and remembers which failed."""

    def __init__(self, steps, passed, cores):
        self.passed = passed
        self.cores = cores
        self.idle = Idle()
        self.waiting = list(steps)
        self.names = {step.name for step in steps}
        self.jobs = []  # Jobs of started steps that no slot has taken.
        self.left = {}  # Jobs that have not ended, by step.
        self.running = 0  # Jobs that a thread runs.
        self.began = {}
        self.ended = set()
        self.failed = []
        self.reports = []  # The end of what each failed job said.
        self.cpu_seconds = {}  # Of each job, with all processes that it waited for.
        self.compiling = False
        self.stopped = False
        self.processes = set()
        self.seconds = read_seconds(SECONDS)
        self.last = read_seconds(FIRST_SECONDS) | self.seconds
        self.change = threading.Condition()

    def run(self):
        threads = [threading.Thread(target=self.work) for _ in range(JOBS_PER_CORE_MAX * self.cores)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def stop(self, *_):
        """Ends every process. Nothing else starts."""
        self.stopped = True
        for process in list(self.processes):
            end(process)

    def work(self):
        while True:
            with self.change:
                job = self.next_job()
                while job is None and not self.stopped and (self.waiting or self.jobs or self.left):
                    self.change.wait(timeout=1)
                    job = self.next_job()
                if job is None or self.stopped:
                    self.change.notify_all()
                    return
            try:
                status, output, seconds = self.execute(job)
            except OSError as error:
                status, output, seconds = "none", f"it could not be started: {error}", 0
            with self.change:
                self.running -= 1
                self.end_job(job, status, output, seconds)
                self.change.notify_all()

    def next_job(self):
        """The next job that may start, counted as running; starts steps whose needs are met. The caller holds the lock."""
        if self.stopped:
            return None
        for step in list(self.waiting):
            needs = [need for need in step.after if need in self.names]
            if any(need in self.failed for need in needs):
                self.waiting.remove(step)
                self.ended.add(step.name)
                self.failed.append(step.name)
                say(f"-- {step.name}: not run, because another step failed that it needs")
            elif step.alone and (self.left or self.jobs or any(not other.alone for other in self.waiting)):
                continue
            elif all(need in self.ended for need in needs) and not (step.compiles and self.compiling):
                self.waiting.remove(step)
                self.compiling |= step.compiles
                self.start_step(step)
        if not self.jobs or self.running > self.cores and not (self.idle.is_idle() and memory.is_enough()):
            return None
        self.running += 1
        return self.jobs.pop(0)

    def rank(self, job):
        """The order of jobs that wait. A step that compiles is the longest chain."""
        return not job.step.compiles, -self.last.get(job.title, 0) - self.seconds_after(job.step)

    def seconds_after(self, step):
        """What the longest chain of steps takes that waits for a step."""
        waiting = [other for other in STEPS if step.name in other.after and other.name in self.names and not other.alone]
        return max((self.last.get(other.name, 0) + self.seconds_after(other) for other in waiting), default=0)

    def start_step(self, step):
        jobs = jobs_of(step, self.passed)
        if not jobs:
            say(f"-- {step.name}: FAILED, it names no test binary that Cargo built")
            self.ended.add(step.name)
            self.failed.append(step.name)
            return
        for job in [job for job in jobs if self.passed.has(job.title, job.key)]:
            say(f"-- {job.title}: cached, it passed with the same inputs")
            jobs.remove(job)
        if not jobs:
            self.ended.add(step.name)
            return
        self.left[step.name] = len(jobs)
        self.jobs = sorted(self.jobs + jobs, key=self.rank)

    def execute(self, job):
        """Runs a job. Returns its exit status, its output and its seconds."""
        say(f".. {job.title}")
        began = time.monotonic()
        self.began.setdefault(job.step.name, began)
        if job.step.output:
            job.step.output.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryFile() as output, open(job.step.output or os.devnull, "wb") as to_file:
            process = subprocess.Popen(job.command, cwd=job.folder, env=job.environment, stdin=subprocess.DEVNULL,
                                       stdout=to_file if job.step.output else output, stderr=output, start_new_session=True)
            self.processes.add(process)
            timer = threading.Timer(0 if self.stopped else JOB_SECONDS_MAX, end, [process])
            timer.start()
            status, self.cpu_seconds[job.title] = wait(process)
            timer.cancel()
            self.processes.discard(process)
            output.seek(0)
            text = output.read().decode(errors="replace")
        seconds = time.monotonic() - began
        if seconds >= JOB_SECONDS_MAX:
            status = f"none within {JOB_SECONDS_MAX} s"
        if job.step.output and status != 0:
            text = "\n".join(diagnostics(job.step.output)) + text
        return status, text, seconds

    def end_job(self, job, status, output, seconds):
        name = job.step.name
        say(f"\n== {job.title}: {shlex.join(job.command)}\n{output.rstrip()}")
        if status == 0:
            say(f"-- {job.title}: ok, {seconds:.0f} s, {self.cpu_seconds[job.title]:.0f} s of CPU")
            self.seconds[job.title] = round(seconds, 1)
            self.passed.add(job.title, job.key)
        else:
            self.passed.remove(job.title)
            failed = f"-- {job.title}: FAILED, exit status {status}, {seconds:.0f} s"
            say(failed)
            self.reports.append("\n".join([failed, *output.rstrip().splitlines()[-FAILED_LINES:]]))
            if name not in self.failed:
                self.failed.append(name)
        self.left[name] -= 1
        if self.left[name] == 0:
            del self.left[name]
            self.ended.add(name)
            self.compiling &= not job.step.compiles
            if name not in self.failed:
                self.seconds[name] = round(time.monotonic() - self.began[name], 1)
                write_seconds(self.seconds)


def wait(process):
    """Returns the exit status of a process, and the seconds of CPU time that it took with all processes it waited for."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_utime + usage.ru_stime


def end(process):
    """Kills a process and all that it started in its session. Another thread waits for it."""
    try:
        os.killpg(process.pid, signal.SIGTERM)
        latest = time.monotonic() + STOP_SECONDS_MAX
        while process.returncode is None and time.monotonic() < latest:
            time.sleep(0.05)
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def say(text):
    print(text, flush=True)


def read_seconds(file):
    try:
        return json.loads(file.read_text())
    except (OSError, ValueError):
        return {}


def write_seconds(seconds):
    SECONDS.parent.mkdir(exist_ok=True)
    SECONDS.write_text(json.dumps(seconds, indent=1, sort_keys=True))


def with_needs(names):
    """The steps of these names and those that they need, in the order of the list."""
    known = {step.name: step for step in STEPS}
    chosen = set()

    def add(name):
        chosen.add(name)
        for need in known[name].after:
            add(need)

    for name in names:
        if name not in known:
            print(f"there is no step {name}; ./test --list names them", file=sys.stderr)
            sys.exit(2)
        add(name)
    return [step for step in STEPS if step.name in chosen]


def list_steps():
    seconds = read_seconds(SECONDS)
    for step in STEPS:
        last = f"{seconds[step.name]:.0f}" if step.name in seconds else "-"
        print(f"{step.name:<17} {last:>5} s   {step.shown()}")


def main(arguments):
    """Runs the steps of these names; without a name all, with `--quick` all but the browser's. With `--all` it also runs
    what passed with the same inputs. Returns the exit status."""
    names = [argument for argument in arguments if argument != "--all"]
    if names in ([], ["--quick"]):
        names = [step.name for step in STEPS if step.name != "browser" or not names]
    steps = with_needs(names)
    cores = len(os.sched_getaffinity(0))
    os.environ.setdefault("RUST_TEST_THREADS", str(2 * cores))
    if "CI" in os.environ:
        os.environ.setdefault("CARGO_INCREMENTAL", "0")  # Nothing is built a second time there.
        # Line numbers of backtraces take a fifth of the time of compiling. A panic names its line without them.
        os.environ.setdefault("CARGO_PROFILE_DEV_DEBUG", "none")
    began = time.monotonic()
    subprocess.run([ROOT / ".ci" / "fuzz-main", TOOLS["CUSTOM_LIBFUZZER_PATH"]], check=True)
    PASSED.parent.mkdir(exist_ok=True)
    run = Run(steps, Passed(ROOT, PASSED, is_used="CI" not in os.environ and "--all" not in arguments), cores)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, run.stop)
    with memory.folder(TEMPLATES) as folder:
        if folder:
            os.environ.setdefault("INORDER_TEST_SERVERS", folder)
        run.run()
    say(f"\n== all: {time.monotonic() - began:.0f} s, {sum(run.cpu_seconds.values()):.0f} s of CPU; the most:")
    for title in sorted(run.cpu_seconds, key=run.cpu_seconds.get, reverse=True)[:DEAREST_JOBS]:
        say(f"{run.cpu_seconds[title]:6.0f} s  {title}")
    if run.stopped:
        say("stopped")
        return 130
    if run.failed:
        say("\n\n".join(run.reports))
        say("FAILED:\n" + "\n".join(f"  {name}" for name in run.failed))
        return 1
    say("passed")
    return 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--list"]:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        list_steps()
    else:
        sys.exit(main(sys.argv[1:]))
