// Builds the extension with cargo and copies it here.
"use strict";

const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");

const extension = path.join(__dirname, "..", "extension");
const target = path.join(extension, "target");
const libraries = ["libinorder.so", "libinorder.dylib", "inorder.dll"];

const cargo = ["build", "--release", "--locked", "--target-dir", target];
execFileSync("cargo", cargo, { cwd: extension, stdio: "inherit" });
const built = libraries.map((name) => path.join(target, "release", name)).find((file) => fs.existsSync(file));
fs.copyFileSync(built, path.join(__dirname, `inorder${path.extname(built)}`));
