"""Private servers of the tests, each on a Unix socket, run by an unprivileged user. INORDER_POSTGRES names another postgres than the
newest that Debian has."""

import glob
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]


def program(pattern):
    """Returns the newest program that matches the pattern, or the one in the search path."""
    found = sorted(glob.glob(pattern)) or [shutil.which(pathlib.Path(pattern).name)]
    return found[-1]


class Server:
    """A private server in a temporary folder, and its clients."""

    needed = None

    def __init__(self):
        # ./test names a folder in memory.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="inorder-", dir=os.environ.get("INORDER_TEST_SERVERS")))
        # Servers refuse to run as root: an unprivileged user owns the folder.
        self.user = "nobody" if os.geteuid() == 0 else None
        if self.user:
            shutil.chown(self.folder, self.user)
        self.initialise()
        self.start()

    def start(self):
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(self.command(), stdout=log, stderr=log, user=self.user, cwd=self.folder)
        until = time.monotonic() + 60
        while not self.is_up():
            if time.monotonic() > until or self.process.poll() is not None:
                self.stop()
                raise RuntimeError("the server does not come up")
            time.sleep(0.1)

    def as_user(self, *command):
        subprocess.run([str(word) for word in command], check=True, capture_output=True, user=self.user, cwd=self.folder)

    def is_up(self):
        return self.client("SELECT 1").returncode == 0

    def client(self, sql, *options):
        return subprocess.run([*self.ask, *options], input=sql, capture_output=True, text=True)

    def rows(self, sql, *options):
        return self.lines(sql, *options).split()

    def lines(self, sql, *options):
        done = self.client(sql, *options)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return done.stdout

    def run(self, *command):
        """Returns the output of a program connected to the server."""
        done = subprocess.run([*command, *self.connection], capture_output=True, text=True)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return done.stdout

    def crash(self):
        """Ends the server as a loss of power would, and starts it again."""
        self.process.kill()
        self.process.wait()
        self.start()

    def stop(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class PostgreSQL(Server):
    needed = os.environ.get("INORDER_POSTGRES") or program("/usr/lib/postgresql/*/bin/postgres")

    def initialise(self):
        initdb = pathlib.Path(self.needed).parent / "initdb"
        self.as_user(initdb, "-D", self.folder / "data", "-U", "test", "--no-sync", "-E", "UTF8", "--locale=C")
        self.connection = ["-h", str(self.folder), "-U", "test"]
        self.ask = ["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", *self.connection, "-d", "postgres"]

    def command(self):
        return [self.needed, "-D", str(self.folder / "data"), "-k", str(self.folder), "-c", "listen_addresses=", "-c", "fsync=off"]


def engine(version):
    """Returns a PostgreSQL that `.ci/engines` installed, or None."""
    folder = subprocess.run([ROOT / ".ci" / "engines", "--folder"], capture_output=True, text=True, check=True).stdout.strip()
    server = pathlib.Path(folder) / f"postgres-{version}" / "bin" / "postgres"
    return str(server) if server.exists() else None


class PostgreSQL18(PostgreSQL):
    needed = engine("18")


class MariaDB(Server):
    needed = program("/usr/sbin/mariadbd")

    def initialise(self):
        self.as_user("mariadb-install-db", "--no-defaults", f"--datadir={self.folder}/data",
                     "--auth-root-authentication-method=normal", "--skip-test-db")
        self.connection = ["-u", "root", f"--socket={self.folder}/socket"]
        self.ask = ["mariadb", "--no-defaults", "-N", "--raw", "--default-character-set=utf8mb4", *self.connection]

    def command(self):
        return [self.needed, "--no-defaults", f"--datadir={self.folder}/data", f"--socket={self.folder}/socket",
                "--skip-networking", f"--pid-file={self.folder}/pid", "--innodb-flush-log-at-trx-commit=0",
                "--log-bin=binary", "--server-id=1", "--log-bin-trust-function-creators=1"]
