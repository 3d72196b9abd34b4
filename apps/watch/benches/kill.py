#!/usr/bin/env python3
"""Kills a server under wrk's load, again and again, and looks for every write that it had acknowledged.

usage: kill.py SERVER DB CREDENTIALS [ROUNDS]

SERVER is the program; DB and CREDENTIALS are what `seed --credentials` has made. wrk loads the server in the name of most
people; the last of them are left to this script, which writes down what was acknowledged to them.
"""

import hashlib
import http.client
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

CLIENTS = 8
PORT = 18099
LUA = Path(__file__).with_name("load.lua")


class Client(threading.Thread):
    """Puts films on the list of one person until the server is gone."""

    def __init__(self, number, token, films):
        super().__init__()
        self.number, self.token, self.films = number, token, films
        self.acknowledged = {}  # film -> the number of the last write that was answered
        self.sent = {}  # film -> that of the last one that was sent
        self.answered = 0
        self.refused = []

    def run(self):
        connection = http.client.HTTPConnection("127.0.0.1", PORT)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        pick = random.Random(self.number)
        for write in range(1_000_000):
            film = pick.choice(self.films)
            self.sent[film] = write
            body = json.dumps({"note": str(write), "priority": 1 + write % 5})
            try:
                connection.request("PUT", f"/api/v1/list/{film}", body, headers)
                answer = connection.getresponse()
                answer.read()
            except (OSError, http.client.HTTPException):
                return
            if answer.status == 200:
                self.acknowledged[film] = write
                self.answered += 1
            else:
                self.refused.append(answer.status)

    def missing(self, db):
        """The films whose list shows another write than the last that was acknowledged, or one that was sent after it."""
        query = """SELECT film.id, entry.note FROM api_token JOIN entry USING (user) JOIN film ON film.number = entry.film
                   WHERE api_token.hash = ?"""
        token = hashlib.sha256(bytes.fromhex(self.token)).digest()
        notes = {ulid(id): note for id, note in db.execute(query, [token])}
        return [
            film
            for film, write in self.acknowledged.items()
            if notes.get(film) not in (str(write), str(self.sent[film]))
        ]


def ulid(id):
    """The text of an id."""
    value, text = int.from_bytes(id, "big"), ""
    for _ in range(26):
        text = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"[value & 31] + text
        value >>= 5
    return text


def start(server, db):
    process = subprocess.Popen(
        [server, "serve", "--db", db, "--listen", f"127.0.0.1:{PORT}"], stderr=subprocess.DEVNULL
    )
    for _ in range(100):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", PORT)
            connection.request("GET", "/health")
            if connection.getresponse().status == 200:
                return process
        except OSError:
            time.sleep(0.05)
    process.kill()
    sys.exit("the server doesn't answer")


def load(credentials):
    command = ["wrk", "-t2", "-c16", "-d60s", "-s", LUA, f"http://127.0.0.1:{PORT}"]
    return subprocess.Popen(command, env={**os.environ, "CREDENTIALS": credentials}, stdout=subprocess.DEVNULL)


def kill_once(server, db, people, films, credentials):
    process = start(server, db)
    wrk = load(credentials)
    clients = [Client(number, token, films) for number, (_, _, token, _) in enumerate(people)]
    for client in clients:
        client.start()
    time.sleep(random.uniform(2, 4))
    process.send_signal(signal.SIGKILL)
    process.wait()
    for client in clients:
        client.join()
    wrk.terminate()
    wrk.wait()
    with sqlite3.connect(db) as connection:
        (health,) = connection.execute("PRAGMA integrity_check").fetchone()
        strays = connection.execute("PRAGMA foreign_key_check").fetchall()
        missing = [film for client in clients for film in client.missing(connection)]
    connection.close()
    acknowledged = sum(client.answered for client in clients)
    refused = [status for client in clients for status in client.refused]
    print(f"writes acknowledged {acknowledged}, films that miss theirs {len(missing)}, writes refused {len(refused)}, integrity_check {health}", flush=True)
    return acknowledged > 0 and not (missing or refused or strays) and health == "ok"


def main():
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    server, db, credentials = sys.argv[1:4]
    rounds = int(sys.argv[4]) if len(sys.argv) == 5 else 20
    lines = Path(credentials).read_text().splitlines()
    people = [line.split() for line in lines]
    films = [film for _, _, _, film in people]
    with tempfile.NamedTemporaryFile("w", suffix=".credentials") as others:
        others.write("\n".join(lines[:-CLIENTS]) + "\n")
        others.flush()
        good = [kill_once(server, db, people[-CLIENTS:], films, others.name) for _ in range(rounds)]
    print(f"{sum(good)} of {rounds} kills lost nothing")
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
