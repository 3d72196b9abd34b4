// Makes the map and reduce functions of a design document's views callable with JSON texts.
(function (source, designText, requireOf) {
  "use strict";
  const { parse, stringify } = JSON;
  const { freeze, keys } = Object;
  const { isArray } = Array;
  const { push } = Array.prototype;
  const apply = Reflect.apply;
  const { InternalError } = globalThis;
  const design = parse(designText);
  const evaluate = eval;
  const OUT_OF_MEMORY = "out of memory";
  let rows = [];

  // A reduction of more characters must be shorter than half of what was reduced.
  const REDUCTION_CHARS_MAX = 4096;

  // An error has no members of its own that JSON would show.
  function shown(value) {
    if (typeof value === "object" && value !== null && "stack" in value && "name" in value && "message" in value) {
      return { error: value.name, message: value.message };
    }
    return value;
  }

  Object.assign(globalThis, {
    emit: (key, value) => { apply(push, rows, [[key, shown(value)]]); },
    isArray,
    log: () => {},
    require: requireOf(design),
    sum: values => {
      let total = 0;
      for (const at in values) total += values[at];
      return total;
    },
    toJSON: value => stringify(value),
  });

  // Rows of a document that takes too much memory must not be taken for none. Without memory for an error, QuickJS throws null.
  function passOn(error) {
    if (error === null || (error instanceof InternalError && error.message === OUT_OF_MEMORY)) {
      throw new InternalError(OUT_OF_MEMORY);
    }
  }

  function guarded(call) {
    return (...given) => {
      try {
        return call(...given);
      } catch (error) {
        passOn(error);
        throw error;
      }
    };
  }

  // An indirect eval: the function sees the global scope, not this one.
  function declare(text) {
    const declared = evaluate("(" + text.replace(/[;\s]+$/, "") + "\n)");
    if (typeof declared !== "function") throw new TypeError("the source is not a function");
    return declared;
  }

  // Functions see what the others see. Members come first: an array that is frozen is read slowly.
  function seal(value) {
    if (isArray(value)) {
      for (let at = 0; at < value.length; at++) sealMember(value[at]);
    } else {
      const names = keys(value);
      for (let at = 0; at < names.length; at++) sealMember(value[names[at]]);
    }
    freeze(value);
  }

  function sealMember(member) {
    if (typeof member === "object" && member !== null) seal(member);
  }

  const { maps, reduces } = parse(source);
  const mapped = maps.map(declare);
  const reduced = reduces.map(declare);

  function emitted(doc) {
    seal(doc);
    const all = [];
    for (let at = 0; at < mapped.length; at++) {
      rows = [];
      try {
        mapped[at](doc);
      } catch (error) {
        // What it emitted before does not count.
        rows = [];
        passOn(error);
      }
      all.push(rows);
    }
    return all;
  }

  function textOf(value) {
    try {
      return stringify(value);
    } catch (error) {
      passOn(error);
      return stringify(mapped.map(() => []));
    }
  }

  function indexed(text) {
    const all = parse(text).map(emitted);
    try {
      return stringify(all);
    } catch (error) {
      passOn(error);
      // One of them emitted what is no JSON, such as a BigInt.
      return "[" + all.map(textOf).join(",") + "]";
    }
  }

  function reduction(at, kind, text) {
    const values = parse(text);
    let result;
    try {
      if (kind === "rereduce") {
        result = reduced[at](null, values, true);
      } else {
        result = reduced[at](values.map(row => row[0]), values.map(row => row[1]), false);
      }
      result = stringify(result) ?? "null";
    } catch (error) {
      passOn(error);
      return "null";
    }
    const length = result.length + 2;
    // The message that CouchDB's query server gets, without the function.
    const input = text.length + stringify([kind, [reduces[at]]]).length + 1 - reduces[at].length;
    if (length > REDUCTION_CHARS_MAX && length * 2 > input) {
      const reason = "Reduce output must shrink more rapidly: input size: " + input + " output size: " + length;
      return stringify({ reduce_overflow_error: reason });
    }
    return result;
  }

  return { index: guarded(indexed), reduce: guarded((at, kind, values) => reduction(+at, kind, values)) };
})
