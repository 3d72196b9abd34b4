// Makes `require` for a design document: its modules are texts in it, named by their paths (CommonJS).
(function (design) {
  "use strict";
  const compile = Function;
  const modules = new Map();

  function resolve(path, folder) {
    const steps = path.startsWith(".") ? folder.slice() : [];
    for (const step of path.split("/")) {
      if (step === "..") steps.pop();
      else if (step !== "." && step !== "") steps.push(step);
    }
    return steps;
  }

  function load(path, folder) {
    const steps = resolve(path, folder);
    const name = steps.join("/");
    if (modules.has(name)) return modules.get(name).exports;
    let found = design;
    for (const step of steps) {
      found = found && Object.hasOwn(found, step) ? found[step] : undefined;
    }
    if (typeof found !== "string") throw new Error("the design document has no module " + name);
    const module = { id: name, exports: {} };
    modules.set(name, module);
    const within = steps.slice(0, -1);
    const run = compile("module", "exports", "require", found);
    run.call(design, module, module.exports, inner => load(String(inner), within));
    return module.exports;
  }

  return path => load(String(path), []);
})
