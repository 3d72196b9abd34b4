// Makes one function of a design document callable with JSON texts, in the surroundings CouchDB gives it.
(function (source, designText, requireOf) {
  "use strict";
  const { parse, stringify } = JSON;
  const { values } = Object;
  const { isArray } = Array;
  const { Error } = globalThis;
  const design = parse(designText);
  const evaluate = eval;
  const rendered = globalThis["\u0000rendered"];
  delete globalThis["\u0000rendered"];
  let emitted = false;

  Object.assign(globalThis, {
    emit: () => { emitted = true; },
    isArray,
    log: () => {},
    require: requireOf(design),
    sum: values => values.reduce((total, value) => total + value, 0),
    toJSON: value => stringify(value),
  });

  // An indirect eval: the function sees the global scope, not this one.
  const declared = evaluate("(" + source + "\n)");
  if (typeof declared !== "function") throw new TypeError("the source is not a function");

  // What many calls share comes first. Each answer is a JSON text.
  return {
    // A function that answers a request: show, list, update or rewrite.
    render: (kind, request, input) => stringify(rendered(kind, declared, design, parse(request), parse(input))),
    filter: (request, doc) => stringify(Boolean(declared.call(design, parse(doc), parse(request)))),
    map: doc => {
      emitted = false;
      declared.call(design, parse(doc));
      return stringify(emitted);
    },
    // Null when the document may be written, else whose fault it is and what was thrown.
    validate: (user, security, doc, old) => {
      try {
        declared.call(design, parse(doc), parse(old), parse(user), parse(security));
        return "null";
      } catch (thrown) {
        const shown = value => (typeof value === "string" ? value : String(stringify(value)));
        if (thrown === null || typeof thrown !== "object") return stringify(["unknown_error", shown(thrown)]);
        for (const kind of ["forbidden", "unauthorized"]) {
          if (kind in thrown) return stringify([kind, shown(thrown[kind])]);
        }
        if (thrown instanceof Error || isArray(thrown)) throw thrown;
        const members = values(thrown);
        return stringify(["unknown_error", shown(members.length === 1 ? members[0] : thrown)]);
      }
    },
  };
})
