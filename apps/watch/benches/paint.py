#!/usr/bin/env python3
"""Loads pages in a headless Chromium whose CPU is slowed down, and prints the largest contentful paint, bytes and requests.

usage: paint.py SERVER DB CREDENTIALS [--repeat N] [--slowdown N] [--csv FILE]

SERVER is the program; DB and CREDENTIALS are what `seed --credentials` has made. It needs `chromium` and `chromedriver`.
Each sample is the first visit of a new browser profile: nothing is cached, and no service worker answers. With the network
`slow 4G` the browser has 1.6 Mbit/s and a round trip of 150 ms, as Lighthouse has for phones.
"""

import argparse
import csv
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

PORT = 18098
SITE = f"http://127.0.0.1:{PORT}"

SCREENS = {
    "phone": {"width": 390, "height": 844, "pixelRatio": 3.0, "mobile": True, "touch": True},
    "desktop": {"width": 1280, "height": 900, "pixelRatio": 1.0, "mobile": False, "touch": False},
}

# The films that `seed` makes have such titles.
PAGES = {"list": "/", "search": "/films?q=amber"}

# The kilobits per second and the round trip in milliseconds of a network.
NETWORKS = {"loopback": None, "slow 4G": (1638.4, 150)}

# The paints are told to an observer that may come later than they.
FIGURES = """
const done = arguments[arguments.length - 1];
const seen = {};
for (const type of ["paint", "largest-contentful-paint", "longtask"]) {
  seen[type] = [];
  new PerformanceObserver(list => seen[type].push(...list.getEntries())).observe({ type, buffered: true });
}
setTimeout(() => {
  const page = performance.getEntriesByType("navigation")[0];
  const all = [page, ...performance.getEntriesByType("resource")];
  const paint = seen["largest-contentful-paint"].at(-1);
  done({
    first_paint_ms: seen.paint.find(paint => paint.name === "first-contentful-paint")?.startTime,
    largest_paint_ms: paint?.startTime,
    largest: paint?.element ? `${paint.element.localName}.${paint.element.className}` : "",
    interactive_ms: page.domInteractive,
    loaded_ms: page.loadEventEnd,
    blocked_ms: seen.longtask.reduce((sum, task) => sum + Math.max(0, task.duration - 50), 0),
    requests_count: all.length,
    sent_bytes: all.reduce((sum, part) => sum + part.transferSize, 0),
    page_bytes: page.transferSize,
    elements_count: document.querySelectorAll("*").length,
  });
}, 500);
"""


def call(method, address, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address, data, {"Content-Type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)["value"]
    except urllib.error.HTTPError as error:
        sys.exit(f"{method} {address}: {error.read().decode()[:500]}")


class Browser:
    """A browser with a profile of its own."""

    def __init__(self, driver, screen):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--hide-scrollbars",
            f"--user-data-dir={self.profile.name}",
        ]
        chrome = {"args": arguments, "mobileEmulation": {"deviceMetrics": SCREENS[screen]}}
        wanted = {"alwaysMatch": {"browserName": "chrome", "goog:chromeOptions": chrome}}
        self.at = f"{driver}/session"
        session = call("POST", self.at, {"capabilities": wanted})
        self.at += "/" + session["sessionId"]
        self.version = session["capabilities"]["browserVersion"]

    def tell(self, command, **parameters):
        """A command of the protocol of the developer tools."""
        return call("POST", f"{self.at}/goog/cdp/execute", {"cmd": command, "params": parameters})

    def visit(self, address, session, slowdown, network):
        self.tell("Network.enable")
        self.tell("Network.setCookie", name="session", value=session, url=SITE)
        self.tell("Emulation.setCPUThrottlingRate", rate=slowdown)
        if network:
            rate, latency = network
            bytes_per_s = rate * 1000 / 8
            self.tell(
                "Network.emulateNetworkConditions",
                offline=False,
                latency=latency,
                downloadThroughput=bytes_per_s,
                uploadThroughput=bytes_per_s / 2,
            )
        call("POST", f"{self.at}/url", {"url": address})
        return call("POST", f"{self.at}/execute/async", {"script": FIGURES, "args": []})

    def end(self):
        call("DELETE", self.at)
        self.profile.cleanup()


def started(command, is_up):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(200):
        try:
            with urllib.request.urlopen(is_up, timeout=5):
                return process
        except OSError:
            time.sleep(0.05)
    process.kill()
    sys.exit(f"{command[0]} doesn't answer")


def measure(options, driver):
    with open(options.credentials, encoding="utf-8") as lines:
        sessions = [line.split()[1] for line in lines]
    rows = []
    # By turns: a change of the machine meets all of them.
    for turn in range(options.repeat):
        for screen in SCREENS:
            for page, path in PAGES.items():
                for name, network in NETWORKS.items():
                    browser = Browser(driver, screen)
                    figures = browser.visit(SITE + path, sessions[turn % len(sessions)], options.slowdown, network)
                    browser.end()
                    if not figures["largest_paint_ms"]:
                        sys.exit(f"{page} on a {screen}: nothing was painted")
                    rows.append({"page": page, "screen": screen, "network": name, "slowdown": options.slowdown, **figures})
    return rows, browser.version


def show(rows):
    groups = {}
    for row in rows:
        groups.setdefault((row["page"], row["screen"], row["network"]), []).append(row)
    for (page, screen, network), group in groups.items():
        median = lambda figure: statistics.median(row[figure] for row in group)
        print(
            f"{page:7} {screen:8} {network:9} largest paint {median('largest_paint_ms'):6.0f} ms"
            f" (first {median('first_paint_ms'):.0f}, load {median('loaded_ms'):.0f}, blocked {median('blocked_ms'):.0f}),"
            f" {median('requests_count'):.0f} requests, {median('sent_bytes'):,.0f} bytes, of which page {median('page_bytes'):,.0f};"
            f" largest: {group[0]['largest']}"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("server")
    parser.add_argument("db")
    parser.add_argument("credentials")
    parser.add_argument("--repeat", type=int, default=5, help="samples of each kind")
    parser.add_argument("--slowdown", type=float, default=4, help="how many times slower the CPU is for the page")
    parser.add_argument("--csv", help="the file for the samples")
    options = parser.parse_args()
    for program in ("chromium", "chromedriver"):
        if not shutil.which(program):
            sys.exit(f"{program} is missing")
    server = started([options.server, "serve", "--db", options.db, "--listen", f"127.0.0.1:{PORT}"], f"{SITE}/health")
    driver = started(["chromedriver", f"--port={PORT + 1}"], f"http://127.0.0.1:{PORT + 1}/status")
    try:
        rows, version = measure(options, f"http://127.0.0.1:{PORT + 1}")
    finally:
        for process in (driver, server):
            process.terminate()
            process.wait()
    print(f"Chromium {version}, CPU {options.slowdown:g} times slower, {options.repeat} samples each")
    show(rows)
    if options.csv:
        with open(options.csv, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
