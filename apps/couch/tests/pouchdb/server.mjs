// Starts the server under test, and asks it.
import { spawn } from "node:child_process";
import { pbkdf2Sync } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

/// A folder for one test, and what removes it.
export async function scratch() {
  const folder = await mkdtemp(join(tmpdir(), "inorder-couch-"));
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

/// The headers of that admin.
export const basic = { authorization: `Basic ${btoa("anna:secret")}` };

/// The options of a server with an admin account.
export async function withAdmin(folder) {
  // Hashed with few rounds: an unoptimised server takes long over many.
  const key = pbkdf2Sync("secret", "salt", 10, 32, "sha256").toString("hex");
  await writeFile(`${folder}/password`, `-pbkdf2:sha256-${key},salt,10\n`);
  return ["--admin", "anna", "--password-file", `${folder}/password`];
}

/// The program named by INORDER_COUCH, on any free port.
export async function startServer(folder, ...options) {
  const program = process.env.INORDER_COUCH;
  if (!program) throw new Error("INORDER_COUCH must name the program");
  const child = spawn(program, ["serve", "--dir", join(folder, "data"), "--listen", "127.0.0.1:0", ...options], {
    stdio: ["ignore", "inherit", "pipe"],
  });
  const url = await new Promise((resolve, reject) => {
    child.once("exit", code => reject(new Error(`the server ended with ${code}`)));
    createInterface({ input: child.stderr }).on("line", line => {
      const listening = line.match(/listening at (http:\/\/[^/]+)/);
      if (listening) resolve(listening[1]);
      else if (/ERROR|panicked/.test(line)) console.error(line);
    });
  });
  const ended = new Promise(resolve => child.once("exit", resolve));
  return {
    url,
    async json(path, options = {}) {
      const response = await fetch(url + path, {
        ...options,
        headers: { "content-type": "application/json", accept: "application/json", ...options.headers },
      });
      return response.json();
    },
    async stop() {
      child.kill("SIGTERM");
      return ended;
    },
  };
}

/// Waits until `check` gives something, and gives that.
export async function eventually(what, check, seconds = 60) {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const found = await check();
    if (found) return found;
    if (Date.now() > end) throw new Error(`never came: ${what}`);
    await new Promise(resolve => setTimeout(resolve, 50));
  }
}

/// All that two databases must have in common: every leaf of every document.
export async function leaves(db) {
  const changes = await db.changes({ style: "all_docs", return_docs: true });
  const rows = changes.results.map(row => [row.id, row.changes.map(change => change.rev).sort()]);
  return JSON.stringify(rows.sort());
}
