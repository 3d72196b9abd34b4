#!/usr/bin/env python3
"""Copies of a MariaDB database to PostgreSQL, side by side: CPU, memory and time of `inorder copy` and `pgloader`.

    cargo build --release
    python3 crates/inorder-copy/benches/copy.py                          # 20 tables, 10,000,000 rows
    python3 crates/inorder-copy/benches/copy.py --rows 200000 --kill     # small, with a kill in the middle
    python3 crates/inorder-copy/benches/copy.py --csv copy.csv

Both copy the same database on a private MariaDB into an empty database of a private PostgreSQL. The tables have
integers, decimals, floating-point numbers, texts, times and NULLs, an index each; every second one has a key of two
columns. CPU is user and system time of the copying process alone; memory is its largest resident size. The servers' CPU
is listed beside it. What was copied is checked by sums and hashes that both servers compute. --kill ends `inorder copy`
by SIGKILL in the middle and starts it again; its figures are of a run without a kill.
"""

import argparse
import csv as csv_files
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
TABLES = 20

# With its 100,000 rows read ahead, pgloader 3.6.7 exhausts its heap of 1 GiB on 10,000,000 rows.
PGLOADER = ["--with", "prefetch rows = 10000"]

COLUMNS = """id bigint NOT NULL, customer int NOT NULL, name varchar(60), amount decimal(12,2) NOT NULL, ratio double,
    made datetime NOT NULL, note text, size int"""

FILL = """INSERT INTO t{n} SELECT seq, seq * 7919 % 100003, concat('name ', md5(seq)), seq % 100000 / 100, seq / 7,
    '2020-01-01' + INTERVAL seq SECOND, if(seq % 10 = 0, NULL, concat(md5(seq + {n}), ' it\\'s a note\\n', seq)), seq % 5
    FROM seq_1_to_{rows}"""

# The same on both servers, but for the hash.
CHECK = """SELECT count(*), sum(id), sum(customer), sum(amount), sum(size), count(note), sum(length(name)), sum(length(note)), cast(min(made) AS char(19)), cast(max(made) AS char(19))
    FROM t{n}"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def as_user(name):
    """What runs a server as another user, where this is root."""
    if os.geteuid() != 0:
        return {}
    user = pwd.getpwnam(name)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{command[0]}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


class Server:
    """A private server that ends with this program."""

    def __init__(self, folder, user):
        self.folder = folder
        self.port = free_port()
        folder.mkdir()
        if os.geteuid() == 0:
            os.chown(folder, pwd.getpwnam(user).pw_uid, -1)
        self.user = user

    def start(self, command):
        self.process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.folder, **as_user(self.user)
        )
        for _ in range(300):
            if subprocess.run(self.client("SELECT 1"), capture_output=True).returncode == 0:
                return
            time.sleep(0.2)
        sys.exit(f"{command[0]} doesn't start")

    def sql(self, text, database=None):
        return run(self.client(text, database)).strip()

    def cpu(self):
        """The CPU seconds of the server's processes, those that ended included."""
        ticks = 0
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(stat.parent.name) == self.process.pid:
                ticks += sum(map(int, fields[11:15]))
            elif int(fields[1]) == self.process.pid:
                ticks += sum(map(int, fields[11:13]))
        return ticks / os.sysconf("SC_CLK_TCK")

    def stop(self):
        self.process.send_signal(self.end)
        self.process.wait()


class MariaDb(Server):
    end = signal.SIGTERM

    def __init__(self, folder):
        super().__init__(folder, "mysql")
        data = f"--datadir={folder}/data"
        own = ["--user=mysql"] if os.geteuid() == 0 else []
        run(["mariadb-install-db", "--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db", data, *own])
        self.start([
            shutil.which("mariadbd") or "/usr/sbin/mariadbd", "--no-defaults", data, f"--socket={folder}/socket", f"--port={self.port}",
            "--bind-address=127.0.0.1", "--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=512M", f"--tmpdir={folder}",
        ])  # fmt: skip
        self.sql("CREATE DATABASE shop; CREATE USER me@'%' IDENTIFIED BY 'pw'; GRANT ALL ON *.* TO me@'%'")

    def client(self, text, database=None):
        own = ["-u", "root"]
        return ["mariadb", "--no-defaults", f"--socket={self.folder}/socket", *own, "-N", "-B", "-e", text, *([database] if database else [])]

    def url(self):
        return f"mysql://me:pw@127.0.0.1:{self.port}/shop"


class Postgres(Server):
    end = signal.SIGINT

    def __init__(self, folder):
        super().__init__(folder, "postgres")
        programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
        if not programs:
            sys.exit("PostgreSQL isn't installed: apt install postgresql")
        self.programs = programs[-1]
        initdb = [self.programs / "initdb", "--no-sync", "--auth=trust", "--locale=C", "--encoding=UTF8", "-U", "me", "-D", f"{folder}/data"]
        run([str(word) for word in initdb], cwd=folder, **as_user("postgres"))
        self.start([
            str(self.programs / "postgres"), "-D", f"{folder}/data", "-p", str(self.port), "-c", "listen_addresses=127.0.0.1",
            "-c", f"unix_socket_directories={folder}", "-c", "fsync=off", "-c", "autovacuum=off", "-c", "max_wal_size=4GB",
        ])  # fmt: skip

    def client(self, text, database=None):
        psql = [str(self.programs / "psql"), "-X", "-q", "-A", "-t", "-F", "\t"]
        return [*psql, "-h", "127.0.0.1", "-p", str(self.port), "-U", "me", "-d", database or "postgres", "-c", text]

    def url(self, scheme, database):
        return f"{scheme}://me@127.0.0.1:{self.port}/{database}"


def measure(command, log):
    """Runs a command; its costs."""
    began = time.monotonic()
    with open(log, "w") as said:
        child = subprocess.Popen(command, stdout=said, stderr=said)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{command[0]}: exit code {child.returncode}\n{Path(log).read_text()[-2000:]}")
    return {
        "cpu_s": usage.ru_utime + usage.ru_stime,
        "user_s": usage.ru_utime,
        "system_s": usage.ru_stime,
        "wall_s": time.monotonic() - began,
        "memory_bytes": usage.ru_maxrss * 1024,
    }


def killed(command, seconds):
    """Runs a command, kills it after so many seconds, and runs it again to its end."""
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(seconds)
    was_running = child.poll() is None
    child.kill()
    child.wait()
    said = run(command)
    again = sum("copied before" in line for line in said.splitlines())
    print(f"killed after {seconds:.1f} s ({'in the middle' if was_running else 'too late'}); then {again} of {TABLES} tables were kept")
    return was_running


def check(source, target, database):
    """What differs between source and copy."""
    for n in range(TABLES):
        own = source.sql(CHECK.format(n=n), "shop").split("\t")
        other = target.sql(CHECK.format(n=n), database).split("\t")
        if own != other:
            sys.exit(f"{database}: t{n}: {own} and {other}")
        own = source.sql(f"SELECT sum(cast(conv(left(md5(concat_ws('|', id, name, amount, note)), 8), 16, 10) AS unsigned)) FROM t{n}", "shop")
        other = target.sql(f"SELECT sum(('x' || left(md5(concat_ws('|', id, name, amount, note)), 8))::bit(32)::bigint) FROM t{n}", database)
        if own != other:
            sys.exit(f"{database}: t{n}: the contents differ: {own} and {other}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000, help="rows of all tables")
    parser.add_argument("--inorder", default=str(ROOT / "target/release/inorder"))
    parser.add_argument("--folder", help="for the servers' data; default: the system's temporary folder")
    parser.add_argument("--only", choices=["inorder", "pgloader"])
    parser.add_argument("--kill", action="store_true", help="also kill inorder in the middle, and start it again")
    parser.add_argument("--csv", help="write all figures to this file")
    args = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="inorder-copy-", dir=args.folder))
    folder.chmod(0o755)
    servers = []
    try:
        source = MariaDb(folder / "mariadb")
        servers.append(source)
        target = Postgres(folder / "postgres")
        servers.append(target)
        for n in range(TABLES):
            key = "PRIMARY KEY (id), KEY by_customer (customer)" if n % 2 == 0 else "PRIMARY KEY (customer, id), KEY by_made (made)"
            source.sql(f"CREATE TABLE t{n} ({COLUMNS}, {key}) DEFAULT CHARSET utf8mb4", "shop")
            source.sql(FILL.format(n=n, rows=args.rows // TABLES), "shop")
        figures = []
        for name in [args.only] if args.only else ["inorder", "pgloader"]:
            target.sql(f"CREATE DATABASE {name}")
            commands = {
                "inorder": [args.inorder, "copy", source.url(), target.url("postgres", name)],
                "pgloader": ["pgloader", *PGLOADER, source.url(), target.url("pgsql", name)],
            }
            before = source.cpu(), target.cpu()
            figure = measure(commands[name], folder / f"{name}.log")
            servers_cpu = [server.cpu() - cpu for server, cpu in zip([source, target], before)]
            figure = {"copier": name, "rows": args.rows // TABLES * TABLES, **figure}
            figure |= {"mariadb_cpu_s": servers_cpu[0], "postgres_cpu_s": servers_cpu[1]}
            if name == "pgloader":
                # It makes a schema of the database's name.
                target.sql("ALTER DATABASE pgloader SET search_path = shop, public")
            check(source, target, name)
            figures.append(figure)
            print(", ".join(f"{key} {value:.2f}" if isinstance(value, float) else f"{key} {value}" for key, value in figure.items()), flush=True)
        if args.kill:
            target.sql("CREATE DATABASE killed")
            killed([args.inorder, "copy", source.url(), target.url("postgres", "killed")], figures[0]["wall_s"] / 2)
            check(source, target, "killed")
        if len(figures) == 2:
            own, other = figures
            print(f"pgloader takes {other['cpu_s'] / own['cpu_s']:.1f} times the CPU and {other['memory_bytes'] / own['memory_bytes']:.1f} times the memory")
        if args.csv:
            with open(args.csv, "w", newline="") as file:
                writer = csv_files.DictWriter(file, figures[0].keys(), lineterminator="\n")
                writer.writeheader()
                writer.writerows(figures)
    finally:
        for server in servers:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
