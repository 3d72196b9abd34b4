#!/usr/bin/env python3
"""Where ordered keys go in Apache Kudu: rows per tablet, rows per second, CPU time and bytes written per row.

    cargo build --release
    python3 crates/inorder-engine/benches/kudu/kudu.py target/release/inorder
    python3 crates/inorder-engine/benches/kudu/kudu.py target/release/inorder --rows 300000 --repetitions 3 --limit 5 --csv kudu.csv

Starts a master and three tablet servers of Kudu 1.18.1 in a private folder and stops them in the end. Maven gets their
programs and the Java client. A table has three tablets without replicas, one per server. `inorder id` makes the UUIDs.
The client collects rows in batches per tablet (AUTO_FLUSH_BACKGROUND). CPU time and bytes written are those of the
tablet servers, from the first row to the last (/proc/PID/stat, and write_bytes of /proc/PID/io). Each row is counted
afterwards. --limit holds the server of the first tablet to this percentage of a core, as `inorder bench hot-range` does.

Needs Java 17 and Maven (`apt-get install openjdk-17-jdk-headless maven`), and the package libsasl2-modules.
"""

import argparse
import csv
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SERVERS = 3
CELLS = [
    ("range", "int-seq"),
    ("range", "uuid7"),
    ("range", "uuid4"),
    ("range", "composite"),
    ("hash", "int-seq"),
]
PAYLOAD_BYTES = 64
ROWS_PER_BATCH = 1000


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{command[0]}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def programs(folder):
    """Gets the client and the servers by Maven. Returns the class path and the folder of the servers' programs."""
    jars = folder / "jars"
    run(["mvn", "-q", "-B", "-f", HERE / "pom.xml", "dependency:copy-dependencies", f"-DoutputDirectory={jars}"])
    binary = next(jars.glob("kudu-binary-*.jar"))
    unpacked = folder / "kudu"
    with zipfile.ZipFile(binary) as archive:
        archive.extractall(unpacked)
    home = next(unpacked.glob("kudu-binary-*"))
    for program in (home / "bin").iterdir():
        program.chmod(0o755)
    others = [str(jar) for jar in jars.glob("*.jar") if jar != binary]
    classes = folder / "classes"
    run(["javac", "-d", str(classes), "-cp", ":".join(others), str(HERE / "Load.java")])
    return ":".join([str(classes), *others]), home


def environment(home):
    """The programs bring their libraries, some of which would otherwise find others of the system."""
    plugins = next(Path("/usr/lib").glob("*/sasl2/libplain.so"), None)
    if plugins is None:
        sys.exit("the plug-in PLAIN of SASL is missing: apt-get install libsasl2-modules")
    return {**os.environ, "LD_LIBRARY_PATH": str(home / "lib"), "SASL_PATH": str(plugins.parent)}


class Server:
    """A master or tablet server that ends with this program."""

    def __init__(self, home, folder, name, flags):
        data = folder / name
        data.mkdir()
        self.port = free_port()
        common = [
            f"--fs_wal_dir={data}/wal", f"--fs_data_dirs={data}/data", f"--log_dir={data}", f"--rpc_bind_addresses=127.0.0.1:{self.port}",
            "--webserver_enabled=false", "--unlock_unsafe_flags", "--unlock_experimental_flags", "--time_source=system_unsync",
        ]
        kind = "kudu-master" if name == "master" else "kudu-tserver"
        with open(data / "stdout", "w") as log:
            self.process = subprocess.Popen(
                [home / "bin" / kind, *common, *flags], stdout=log, stderr=subprocess.STDOUT, cwd=data, env=environment(home)
            )

    def cpu_s(self):
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")

    def written_bytes(self):
        lines = Path(f"/proc/{self.process.pid}/io").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("write_bytes")).split()[1])

    def stop(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Cluster:
    def __init__(self, home, folder):
        self.master = Server(home, folder, "master", [])
        address = f"--tserver_master_addrs=127.0.0.1:{self.master.port}"
        self.tablets = [Server(home, folder, f"server-{n}", [address]) for n in range(SERVERS)]
        deadline = time.monotonic() + 60
        listing = [home / "bin" / "kudu", "tserver", "list", f"127.0.0.1:{self.master.port}", "-format=csv"]
        while subprocess.run(listing, capture_output=True, text=True, env=environment(home)).stdout.count("\n") < SERVERS:
            if time.monotonic() > deadline or any(server.process.poll() is not None for server in self.servers()):
                self.stop()
                sys.exit(f"Kudu doesn't start; its messages are in {folder}")
            time.sleep(0.3)

    def servers(self):
        return [self.master, *self.tablets]

    def on(self, port):
        return next(server for server in self.tablets if server.port == port)

    def stop(self):
        for server in self.servers():
            server.stop()


class Limit:
    """Holds a process to a percentage of a core: stops it while it has used more, and continues it afterwards."""

    def __init__(self, server, percent):
        self.server, self.percent = server, percent
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.hold)

    def used_s(self):
        total_ns = 0
        for task in Path(f"/proc/{self.server.process.pid}/task").iterdir():
            try:
                total_ns += int((task / "schedstat").read_text().split()[0])
            except OSError:
                continue
        return total_ns / 1e9

    def hold(self):
        balance, used, looked = 0.0, self.used_s(), time.monotonic()
        while not self.is_over.wait(0.005):
            now, now_used = time.monotonic(), self.used_s()
            balance = min(balance + (now - looked) * self.percent / 100 - (now_used - used), 0.005)
            looked, used = now, now_used
            self.server.process.send_signal(signal.SIGSTOP if balance < 0 else signal.SIGCONT)
        self.server.process.send_signal(signal.SIGCONT)

    def __enter__(self):
        if self.percent < 100:
            self.thread.start()

    def __exit__(self, *_):
        self.is_over.set()
        if self.percent < 100:
            self.thread.join()


def keys(inorder, kind, rows):
    """The keys of a load as lines of text, made before it."""
    if kind in ("uuid4", "uuid7"):
        return run([inorder, "id", kind, "-n", str(rows)])
    return "\n".join(map(str, range(1, rows + 1))) + "\n"


class Loader:
    """The Java client with an empty table, one tablet on each server."""

    def __init__(self, classes, cluster, key, partition):
        command = ["java", "-cp", classes, "Load", f"127.0.0.1:{cluster.master.port}", key, partition]
        command += [str(PAYLOAD_BYTES), str(ROWS_PER_BATCH)]
        while True:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            lines = [self.process.stdout.readline().split() for _ in range(SERVERS)]
            if not all(lines):
                sys.exit(f"the table can't be made: {self.process.stderr.read().strip()}")
            self.ports = [int(line[1]) for line in lines]
            if len(set(self.ports)) == SERVERS:
                return
            # The master has put two tablets on one server: the table is made again.
            self.process.communicate("end\n")

    def load(self, text):
        output, errors = self.process.communicate("begin\n" + text)
        if self.process.returncode != 0:
            sys.exit(f"the load failed: {errors.strip()}")
        lines = [line.split() for line in output.splitlines()]
        seconds = next(float(line[1]) for line in lines if line[0] == "seconds")
        return seconds, [int(line[2]) for line in lines if line[0] == "rows"]


def cell(options, classes, cluster, partition, key, limit_percent):
    text = keys(options.inorder, key, options.rows)
    loader = Loader(classes, cluster, key, partition)
    before = [(server.cpu_s(), server.written_bytes()) for server in cluster.tablets]
    with Limit(cluster.on(loader.ports[0]), limit_percent):
        seconds, rows = loader.load(text)
    after = [(server.cpu_s(), server.written_bytes()) for server in cluster.tablets]
    if sum(rows) != options.rows:
        sys.exit(f"{partition}, {key}: {sum(rows)} of {options.rows} rows are stored")
    cpu_s, written_bytes = (sum(late[i] - early[i] for late, early in zip(after, before)) for i in range(2))
    return {
        "key": key,
        "partition": partition,
        "limit_percent": limit_percent,
        "rows": options.rows,
        "hottest_tablet_share": max(rows) / options.rows,
        "rows_per_s": options.rows / seconds,
        "row_cpu_us": cpu_s / options.rows * 1e6,
        "row_written_bytes": written_bytes / options.rows,
    }


def measure(options, classes, cluster):
    limits = sorted({100, options.limit}, reverse=True)
    samples = []
    for repetition in range(options.repetitions):
        cells = [(partition, key, limit) for partition, key in CELLS for limit in limits]
        random.Random(repetition).shuffle(cells)
        for partition, key, limit in cells:
            samples.append(cell(options, classes, cluster, partition, key, limit))
            values = samples[-1]
            print(
                f"{partition:6} {key:10} {limit:3}%  hottest {values['hottest_tablet_share']:5.1%}  {values['rows_per_s']:9,.0f} rows/s  "
                f"{values['row_cpu_us']:6.1f} us/row  {values['row_written_bytes']:6.0f} B/row",
                flush=True,
            )
    return sorted(samples, key=lambda sample: (-sample["limit_percent"], CELLS.index((sample["partition"], sample["key"]))))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("inorder", help="the command")
    parser.add_argument("--rows", type=int, default=100_000, help="rows per table (default 100,000)")
    parser.add_argument("--repetitions", type=int, default=1)
    parser.add_argument("--limit", type=int, default=100, help="also with the first tablet's server at this percentage of a core")
    parser.add_argument("--folder", type=Path, help="where the servers keep their data (default: a temporary folder)")
    parser.add_argument("--csv", type=Path, help="writes the samples")
    options = parser.parse_args()
    for program in ("java", "javac", "mvn"):
        if not shutil.which(program):
            sys.exit(f"{program} is missing: apt-get install openjdk-17-jdk-headless maven")
    if options.folder:
        options.folder.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="kudu-", dir=options.folder))
    classes, home = programs(folder)
    cluster = Cluster(home, folder)
    try:
        samples = measure(options, classes, cluster)
    finally:
        cluster.stop()
    shutil.rmtree(folder)
    if options.csv:
        with open(options.csv, "w", newline="") as file:
            writer = csv.DictWriter(file, samples[0].keys(), lineterminator="\n")
            writer.writeheader()
            writer.writerows(samples)


if __name__ == "__main__":
    main()
