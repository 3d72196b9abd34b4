#!/usr/bin/env node
// Runs the suites of a clone of apache/pouchdb against a running server.
//
//     pouchdb.mjs CLONE URL [--suite integration|mapreduce|find]... [--grep TEXT] [--failures FILE]
//
// URL may have a name and a password. In the clone, `npm install` and `npm run build-node` must have been run. The exit code is 0 where
// every test passed, 1 where one failed, 2 where the suites could not be run.

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";

// `integration` replicates between local storage and the server; in the others every database is on the server. A file of tests is run
// in a process of its own, after the hooks: a hook that fails ends its process.
const SUITES = {
  integration: { folders: ["tests/integration"], hooks: ["tests/integration/test.setup_global_hooks.js"], env: {} },
  mapreduce: { folders: ["tests/mapreduce"], hooks: [], env: { ADAPTERS: "http" } },
  find: {
    folders: ["tests/find/test-suite-1", "tests/find/test-suite-2", "tests/find/test-issues"],
    hooks: ["tests/find/test-suite-1/test.aaa-setup.js"],
    env: { ADAPTERS: "http", PLUGINS: "pouchdb-find" },
  },
};
const TEST_MS_MAX = 30_000;
const FILE_MS_MAX = 20 * 60_000;
// Tests of the integration suite expect a server at this port that always answers 500.
const FAILING_SERVER_PORT = 3010;

function fail(message) {
  console.error(message);
  process.exit(2);
}

function settings() {
  const options = {
    suite: { type: "string", multiple: true },
    grep: { type: "string" },
    failures: { type: "string" },
  };
  const { positionals, values } = parseArgs({ options, allowPositionals: true });
  const [clone, url] = positionals;
  if (positionals.length !== 2) fail("usage: pouchdb.mjs CLONE URL [--suite NAME]... [--grep TEXT] [--failures FILE]");
  const suites = values.suite ?? Object.keys(SUITES);
  const unknown = suites.find((suite) => !(suite in SUITES));
  if (unknown) fail(`${unknown}: no such suite; there are ${Object.keys(SUITES).join(", ")}`);
  const root = path.resolve(clone);
  if (!existsSync(path.join(root, "node_modules/.bin/mocha"))) fail(`${root}: run npm install there`);
  if (!existsSync(path.join(root, "packages/node_modules/pouchdb/lib/index.js"))) fail(`${root}: run npm run build-node there`);
  return { root, url: url.replace(/\/$/, ""), suites, grep: values.grep, failures: values.failures };
}

function failingServer() {
  const server = createServer((_, response) => response.writeHead(500, { "content-type": "application/json" }).end("{}"));
  server.on("error", (error) => fail(`port ${FAILING_SERVER_PORT} is needed by the tests: ${error.message}`));
  return new Promise((resolve) => server.listen(FAILING_SERVER_PORT, "127.0.0.1", () => resolve(server)));
}

// The report of a file of tests, in mocha's JSON format. The tests write their local databases into the current folder.
async function runFile(file, { hooks, env }, { root, url, grep }) {
  const folder = mkdtempSync(path.join(tmpdir(), "pouchdb-suite-"));
  const report = path.join(folder, "report.json");
  const mocha = [
    path.join(root, "node_modules/mocha/bin/mocha.js"),
    ...["--exit", "--timeout", `${TEST_MS_MAX}`, "--reporter", "json", "--reporter-option", `output=${report}`],
    ...["--require", path.join(root, "tests/integration/node.setup.js")],
    ...(grep ? ["--grep", grep] : []),
    ...hooks.map((hook) => path.join(root, hook)),
    file,
  ];
  const child = spawn(process.execPath, mocha, {
    cwd: folder,
    env: { ...process.env, COUCH_HOST: url, SERVER: "couchdb-master", VIEW_ADAPTERS: "memory", ...env },
    stdio: ["ignore", "ignore", "pipe"],
    timeout: FILE_MS_MAX,
  });
  let errors = "";
  child.stderr.on("data", (bytes) => (errors = (errors + bytes).slice(-4000)));
  const code = await new Promise((resolve) => child.on("close", resolve));
  if (!existsSync(report)) fail(`${file} wrote no report (exit code ${code}):\n${errors}`);
  const { stats, failures } = JSON.parse(readFileSync(report, "utf8"));
  rmSync(folder, { recursive: true, force: true });
  return { ...stats, failures };
}

async function run(suite, given) {
  const { folders, hooks } = SUITES[suite];
  const names = folders.flatMap((folder) => readdirSync(path.join(given.root, folder)).map((name) => path.join(folder, name)));
  const files = names.filter((name) => /\/test\.[^/]*\.js$/.test(name) && !hooks.includes(name)).sort();
  const sum = { tests: 0, passes: 0, pending: 0, duration: 0, failures: [] };
  for (const file of files) {
    const report = await runFile(path.join(given.root, file), SUITES[suite], given);
    for (const key of Object.keys(sum)) sum[key] = Array.isArray(sum[key]) ? [...sum[key], ...report[key]] : sum[key] + report[key];
  }
  if (sum.passes + sum.failures.length === 0) fail(`${suite} ran no test`);
  return sum;
}

function failureLine(suite, { fullTitle, err }) {
  const text = err.message || [err.status, err.name, err.reason].join(" ");
  const message = text.replaceAll(/\s+/g, " ").slice(0, 200);
  return `${suite}\t${fullTitle}\t${message}`;
}

const given = settings();
const server = given.suites.includes("integration") ? await failingServer() : undefined;
const lines = [];
console.log("suite        tests passed failed skipped seconds");
for (const suite of given.suites) {
  const { tests, passes, pending, duration, failures } = await run(suite, given);
  const numbers = [tests, passes, failures.length, pending, Math.round(duration / 1000)];
  console.log(suite.padEnd(12), numbers.map((number) => `${number}`.padStart(6)).join(" "));
  lines.push(...failures.map((failure) => failureLine(suite, failure)));
}
server?.close();
for (const line of lines) console.log(line);
if (given.failures) writeFileSync(given.failures, lines.map((line) => `${line}\n`).join(""));
process.exit(lines.length === 0 ? 0 : 1);
