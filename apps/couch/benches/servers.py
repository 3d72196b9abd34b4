"""Document servers that are measured: how they are started, asked and loaded with requests."""

import base64
import http.client
import json
import re
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import typing
import urllib.parse

import processes

ADMIN, USER, PASSWORD = "admin", "anna", "secret"

# The ways in which requests prove who sends them.
LOGINS = ("", "cookie", "basic")


def basic(name, password):
    return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()


class Server:
    """A server of CouchDB's protocol. With a login, its databases are for one user, who sends the requests."""

    def __init__(self, name, port, login):
        self.name, self.port, self.login = name, port, login
        self.pid, self.is_started, self.admin_headers, self.headers = None, False, {}, {}

    def ask(self, method, path, body=None, headers=None, wanted=range(400)):
        """An answer's status, headers and body. The admin asks where no headers are given."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        text = None if body is None else body if isinstance(body, bytes) else json.dumps(body)
        given = self.admin_headers if headers is None else headers
        connection.request(method, path, text, {"Content-Type": "application/json", "Accept": "application/json", **given})
        response = connection.getresponse()
        data = response.read()
        connection.close()
        if response.status not in wanted:
            raise SystemExit(f"{self.name}: {method} {path}: {response.status} {data[:200]}")
        return response.status, response.headers, data

    def get(self, path):
        return json.loads(self.ask("GET", path)[2])

    def create(self, database):
        """Makes a database. With a login, it is the user's alone."""
        self.ask("DELETE", database, wanted=(200, 404))
        self.ask("PUT", database)
        if self.login:
            names = {"names": [USER], "roles": []}
            self.ask("PUT", database + "/_security", {"admins": names, "members": names})

    def log_in(self):
        """Makes the user, and what each request of the user carries."""
        if not self.login:
            return
        self.ask("PUT", "/_users", wanted=(201, 412))
        path = f"/_users/org.couchdb.user:{USER}"
        user = {"name": USER, "password": PASSWORD, "roles": [], "type": "user"}
        self.ask("PUT", path, user, wanted=(201, 409))
        self.headers = {"Authorization": basic(USER, PASSWORD)}
        # What verifies a password once is left out of the measurement.
        self.ask("GET", "/_session", headers=self.headers)
        if self.login == "cookie":
            _, headers, _ = self.ask("POST", "/_session", {"name": USER, "password": PASSWORD}, {})
            self.headers = {"Cookie": headers["Set-Cookie"].split(";")[0]}

    def log_out(self):
        if self.login and not self.is_started:
            _, headers, _ = self.ask("HEAD", f"/_users/org.couchdb.user:{USER}")
            self.ask("DELETE", f"/_users/org.couchdb.user:{USER}?rev=" + headers["ETag"].strip('"'))

    def cpu_seconds(self):
        return processes.cpu_seconds(self.pid)

    def memory_bytes(self):
        return processes.memory_bytes(self.pid)

    def stop(self):
        """Ends what was started."""


class Elsewhere(Server):
    """A server that runs already, at a URL of this machine with the name and password of an admin."""

    def __init__(self, name, url, login):
        parts = urllib.parse.urlsplit(url)
        super().__init__(name, parts.port, login)
        self.pid = processes.listener(self.port)
        self.admin_headers = {"Authorization": basic(parts.username, parts.password)}


class Started(Server):
    """A server in a folder and on a port of its own."""

    def __init__(self, name, command, login="", folder=None):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            super().__init__(name, free.getsockname()[1], login)
        self.is_started, self.own_folder = True, folder is None
        self.folder = folder or tempfile.mkdtemp(prefix="inorder-couch-bench-")
        self.command = command.format(port=self.port, dir=self.folder)
        if login:
            self.admin_headers = {"Authorization": basic(ADMIN, PASSWORD)}
        self.first_start_seconds = self.start()
        self.end()
        self.start_seconds = self.start()

    def start(self):
        """Seconds until it answers."""
        begun = time.monotonic()
        quiet = subprocess.DEVNULL
        self.process = subprocess.Popen(shlex.split(self.command), stdout=quiet, stderr=quiet, cwd=self.folder)
        self.pid = self.process.pid
        while True:
            try:
                self.ask("GET", "/", headers={})
                return time.monotonic() - begun
            except OSError:
                if self.process.poll() is not None:
                    raise SystemExit(f"{self.name} ended: {self.command}")
                time.sleep(0.001)

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()

    def stop(self):
        self.end()
        if self.own_folder:
            shutil.rmtree(self.folder, ignore_errors=True)


class Load(typing.NamedTuple):
    """What many requests on some connections took. `median_us` and `p99_us` are times that clients waited for an answer."""

    requests_per_s: float
    request_cpu_us: float
    failed: int
    median_us: float
    p99_us: float


def microseconds(text, percentile):
    """A percentile of wrk's latencies, such as `50%   11.00us`."""
    number, unit = re.search(rf"^\s+{percentile}%\s+([\d.]+)(us|ms|s)$", text, re.MULTILINE).groups()
    return float(number) * {"us": 1, "ms": 1e3, "s": 1e6}[unit]


def wrk(server, script, connections, seconds):
    headers = "".join(f'wrk.headers["{name}"] = "{value}"\n' for name, value in server.headers.items())
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as file:
        file.write(headers + script)
        file.flush()
        before = server.cpu_seconds()
        command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "-s", file.name, f"http://127.0.0.1:{server.port}"]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        used = server.cpu_seconds() - before
    requests = int(re.search(r"(\d+) requests in", text)[1])
    wrong = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    return Load(
        requests_per_s=float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1]),
        request_cpu_us=used / max(requests, 1) * 1e6,
        failed=int(wrong[1]) if wrong else 0,
        median_us=microseconds(text, 50),
        p99_us=microseconds(text, 99),
    )
