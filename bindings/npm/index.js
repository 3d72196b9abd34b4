"use strict";

const path = require("node:path");

const suffix = { darwin: "dylib", win32: "dll" }[process.platform] ?? "so";

exports.path = path.join(__dirname, `inorder.${suffix}`);

exports.load = (database) => {
  database.loadExtension(exports.path);
  return database;
};
