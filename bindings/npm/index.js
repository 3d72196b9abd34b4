"use strict";

const fs = require("node:fs");
const path = require("node:path");

const suffix = { darwin: "dylib", win32: "dll" }[process.platform] ?? "so";

// Of Linux only: programs for musl do not run with glibc.
function libc() {
  if (process.platform !== "linux") return "";
  return process.report.getReport().header.glibcVersionRuntime ? "-gnu" : "-musl";
}

// The extension is in the package of this platform, or here if it was built here.
function find() {
  const built = path.join(__dirname, `inorder.${suffix}`);
  if (fs.existsSync(built)) return built;
  const name = `inorder-${process.platform}-${process.arch}${libc()}`;
  try {
    return require.resolve(`${name}/inorder.${suffix}`);
  } catch {
    throw new Error(`the package ${name} is not installed: install inorder with its optional dependencies`);
  }
}

exports.path = find();

// Drivers with promises load it later: their promise is handed on.
exports.load = (database) => {
  const loaded = database.loadExtension(exports.path);
  return typeof loaded?.then === "function" ? loaded.then(() => database) : database;
};
