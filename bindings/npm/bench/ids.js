// CPU time per id in JavaScript, and per id that inorder-key makes in WebAssembly.
//
//   cargo build --release --target wasm32-unknown-unknown --manifest-path bindings/npm/bench/Cargo.toml
//   node bindings/npm/bench/ids.js [ids.csv]
"use strict";

const fs = require("node:fs");
const path = require("node:path");
const ids = require("../ids.js");

const WASM = path.join(__dirname, "target/wasm32-unknown-unknown/release/inorder_wasm.wasm");
const IDS = 300_000;
const ROUNDS = 7;
const ID_BYTES = 36;
const BATCH = 64;

/** Starts the module without wasm-bindgen's tool: of its imports, only the clock and random bytes are called. */
function start() {
  const none = new Proxy({}, { get: () => () => 0 });
  const called = (name) => {
    if (name.startsWith("__wbg_now_")) return Date.now;
    if (!name.startsWith("__wbg_getRandomValues_")) return none.any;
    return (at, length) => crypto.getRandomValues(new Uint8Array(wasm.memory.buffer, at >>> 0, length >>> 0));
  };
  const imports = { __wbindgen_placeholder__: new Proxy({}, { get: (_, name) => called(name) }), __wbindgen_externref_xform__: none };
  const wasm = new WebAssembly.Instance(new WebAssembly.Module(fs.readFileSync(WASM)), imports).exports;
  return wasm;
}

const wasm = start();
const decoder = new TextDecoder("latin1");

/** Returns functions that make an id with a function of the module and read it in three ways. */
function readers(make, length) {
  const bytes = new Uint8Array(wasm.memory.buffer, wasm.out(), length);
  const buffer = Buffer.from(wasm.memory.buffer, wasm.out(), ID_BYTES * BATCH);
  let next = BATCH;
  return {
    "wasm, TextDecoder": () => (make(1), decoder.decode(bytes)),
    "wasm, Buffer of Node": () => (make(1), buffer.latin1Slice(0, length)),
    "wasm, 64 at once, Buffer of Node": () => {
      if (next === BATCH) {
        make(BATCH);
        next = 0;
      }
      next += 1;
      return buffer.latin1Slice(ID_BYTES * (next - 1), ID_BYTES * (next - 1) + length);
    },
  };
}

const forms = {
  ulid: { JavaScript: ids.ulid, ...readers(wasm.ulids, 26) },
  uuid7: { JavaScript: ids.uuid7, ...readers(wasm.uuids, ID_BYTES), "crypto.randomUUID, version 4": () => crypto.randomUUID() },
};
const rows = ["id,made_in,round,cpu_ns"];
for (let round = 0; round < ROUNDS; round += 1) {
  for (const [id, ways] of Object.entries(forms)) {
    for (const [way, make] of Object.entries(ways)) {
      if (new Set([make(), make(), make()]).size !== 3) throw new Error(`${way} repeats an id`);
      let sum = 0; // Reads a character, so that the text is made in full.
      const began = process.cpuUsage();
      for (let i = 0; i < IDS; i += 1) sum += make().charCodeAt(20);
      const took = process.cpuUsage(began);
      if (!(sum > 0)) throw new Error("no text");
      rows.push(`${id},"${way}",${round},${(((took.user + took.system) * 1000) / IDS).toFixed(1)}`);
    }
  }
}
const text = `${rows.join("\n")}\n`;
if (process.argv[2]) fs.writeFileSync(process.argv[2], text);
else process.stdout.write(text);
