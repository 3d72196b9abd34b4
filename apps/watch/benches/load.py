#!/usr/bin/env python3
"""Loads a server with wrk and with sign-ins, and says what CPU time and memory that takes.

usage: load.py SERVER DB CREDENTIALS [--seconds N] [--repeat N] [--sign-ins N] [--version NAME] [--csv FILE] [--memory-csv FILE]

SERVER is the program; DB and CREDENTIALS are what `seed --credentials` has made. It needs `wrk`. Pages of lists and the mixed load of
load.lua come by turns. The sign-ins come afterwards, to a server that was started anew, 16 at a time, each from an address of its own.
"""

import argparse
import concurrent.futures
import csv
import http.client
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.parse
from pathlib import Path

PORT = 18097
LUA = Path(__file__).with_name("load.lua")
CONNECTIONS = 16
NAME, PASSWORD = "Bench", "a password for the bench"
TICKS = os.sysconf("SC_CLK_TCK")


class Server:
    def __init__(self, program, db, *options):
        command = [program, "serve", "--db", db, "--listen", f"127.0.0.1:{PORT}", *options]
        self.process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        for _ in range(200):
            try:
                if request("GET", "/health")[0] == 200:
                    return
            except OSError:
                time.sleep(0.05)
        self.end()
        sys.exit("the server doesn't answer")

    def cpu_s(self):
        """CPU time of all threads, in the kernel too."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def memory_bytes(self):
        """The resident set: anonymous memory, and pages of the program and of the database."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        kib = lambda name: int(re.search(rf"{name}:\s*(\d+) kB", status)[1])
        return kib("VmRSS") * 1024, kib("RssAnon") * 1024

    def end(self):
        self.process.terminate()
        self.process.wait()


def request(method, path, body=None, headers={}, connection=None):
    """The status, the headers and the text of an answer."""
    connection = connection or http.client.HTTPConnection("127.0.0.1", PORT, timeout=60)
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    return answer.status, answer.headers, text


def load(server, only, credentials, seconds):
    """Runs wrk, and adds to its line of figures those of the server."""
    with tempfile.NamedTemporaryFile("r", suffix=".csv") as file:
        environment = {**os.environ, "CREDENTIALS": credentials, "CSV": file.name, "ONLY": only}
        command = ["wrk", "-t2", f"-c{CONNECTIONS}", f"-d{seconds}s", "-s", LUA, f"http://127.0.0.1:{PORT}"]
        before = server.cpu_s()
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
        cpu_s = server.cpu_s() - before
        figures = file.read().strip().split(",")
    names = ["load", "requests_per_s", "half_us", "p99_us", "slowest_us", "wrong_count", "unanswered_count"]
    row = dict(zip(names, figures))
    row["load"] = only
    row["cpu_us"] = round(cpu_s * 1e6 / (float(row["requests_per_s"]) * seconds), 1)
    row["memory_bytes"] = server.memory_bytes()[0]
    return row


def sign_in(number):
    """Signs in from another address, as the proxy names it. Returns the time that the answer took."""
    address = {"X-Forwarded-For": f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"}
    _, headers, page = request("GET", "/sign-in", headers=address)
    cookie = headers["Set-Cookie"].split(";")[0]
    token = re.search(r'name="token" value="([^"]+)"', page)[1]
    body = urllib.parse.urlencode({"token": token, "name": NAME, "password": PASSWORD, "next": ""})
    sent = {**address, "Cookie": cookie, "Content-Type": "application/x-www-form-urlencoded"}
    start = time.monotonic()
    status, headers, page = request("POST", "/sign-in", body, sent)
    if status != 303:
        sys.exit(f"sign-in {number}: {status} {page[:300]}")
    return time.monotonic() - start


def signed_in(options):
    """The memory of a server after sign-ins."""
    add = [options.server, "--db", options.db, "user", "add", NAME, "--password-stdin"]
    added = subprocess.run(add, input=PASSWORD + "\n", text=True, capture_output=True)
    if added.returncode and "name" not in added.stderr:
        sys.exit(added.stderr)
    server = Server(options.server, options.db, "--behind-tls")
    rows = []
    done = 0
    for count in (0, 1, options.sign_ins):
        start = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(CONNECTIONS) as threads:
            took = sorted(threads.map(sign_in, range(done, count)))
        done = count
        resident, anonymous = server.memory_bytes()
        rows.append({
            "after": f"{count:,} sign-in" + ("" if count == 1 else "s"),
            "wall_s": round(time.monotonic() - start, 2),
            "half_us": round(took[len(took) // 2] * 1e6) if took else 0,
            "memory_bytes": resident,
            "anonymous_bytes": anonymous,
        })
        print(f"after {rows[-1]['after']}: {resident / 1e6:.1f} MB, of which anonymous {anonymous / 1e6:.1f} MB; {rows[-1]['wall_s']} s", flush=True)
    server.end()
    return rows


def write(name, rows):
    if name and rows:
        with open(name, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("server")
    parser.add_argument("db")
    parser.add_argument("credentials")
    parser.add_argument("--seconds", type=int, default=60, help="of each load")
    parser.add_argument("--repeat", type=int, default=1, help="runs of each load")
    parser.add_argument("--sign-ins", type=int, default=1000)
    parser.add_argument("--version", default="", help="what the lines of the loads call the program")
    parser.add_argument("--csv", help="the file for the loads")
    parser.add_argument("--memory-csv", help="the file for the sign-ins")
    options = parser.parse_args()
    server = Server(options.server, options.db)
    rows = []
    try:
        for _ in range(options.repeat):
            for only in ("list", "mixed"):
                row = {"version": options.version, **load(server, only, options.credentials, options.seconds)}
                rows.append(row)
                print(", ".join(f"{name} {value}" for name, value in row.items()), flush=True)
    finally:
        server.end()
    write(options.csv, rows)
    if options.sign_ins:
        write(options.memory_csv, signed_in(options))


if __name__ == "__main__":
    main()
