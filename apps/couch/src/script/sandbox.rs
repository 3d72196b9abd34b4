//! A function in a separate QuickJS runtime. It has no time limit: the server kills the process.

use super::function::Kind;
use super::wire::{Failure, Method, Thrown};
use rquickjs::function::Rest;
use rquickjs::{CatchResultExt, CaughtError, Context, Ctx, Function, Object, Runtime, Value};

/// The longest reason that is passed on.
const REASON_CHARS_MAX: usize = 4096;

/// The depth of nested calls; well within the stack of the thread that runs it.
const STACK_BYTES_MAX: usize = 512 << 10;

/// One function of a design document, ready to be called.
pub struct Script {
    context: Context,
}

impl std::fmt::Debug for Script {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Script")
    }
}

/// The name the callable is kept under in the global object.
const CALLABLE: &str = "\u{0}callable";

/// The message of the error that QuickJS throws then.
const OUT_OF_MEMORY: &str = "out of memory";

/// The name under which the prelude finds what calls functions that answer requests.
const RENDERED: &str = "\u{0}rendered";

impl Script {
    /// Compiles `source`, a function expression of the design document `design` (JSON), with so many bytes of heap.
    ///
    /// # Errors
    /// If it is no function, or compiling it takes too much memory.
    pub fn new(
        kind: Kind,
        source: &str,
        design: &str,
        memory_bytes_max: usize,
    ) -> Result<Self, Failure> {
        let start = |error: rquickjs::Error| Failure::Failed(error.to_string());
        let runtime = Runtime::new().map_err(start)?;
        runtime.set_memory_limit(memory_bytes_max);
        runtime.set_max_stack_size(STACK_BYTES_MAX);
        let context = Context::full(&runtime).map_err(start)?;
        let script = Script { context };
        let compiled = script.run(|ctx| {
            let rendered: Function = ctx.eval(include_str!("render.js"))?;
            ctx.globals().set(RENDERED, rendered)?;
            let make: Function = ctx.eval(match kind {
                Kind::Single => include_str!("prelude.js"),
                Kind::Views => include_str!("views.js"),
            })?;
            let require_of: Function = ctx.eval(include_str!("modules.js"))?;
            let callable: Object = make.call((trimmed(source), design, require_of))?;
            ctx.globals().set(CALLABLE, callable)
        });
        compiled.map_err(|thrown| Failure::Compile(thrown.reason))?;
        Ok(script)
    }

    /// Changes the bytes of heap.
    pub fn set_heap(&self, memory_bytes_max: usize) {
        self.context.runtime().set_memory_limit(memory_bytes_max);
    }

    /// Calls the function with JSON texts; its answer is JSON, too.
    ///
    /// # Errors
    /// If the function throws, or takes too much memory.
    pub fn call(&self, method: Method, arguments: &[&str]) -> Result<String, Failure> {
        let called = self.run(|ctx| {
            let callable: Object = ctx.globals().get(CALLABLE)?;
            let method: Function = callable.get(method.name())?;
            method.call((Rest(arguments.to_vec()),))
        });
        called.map_err(|thrown| match thrown.reason.as_str() {
            OUT_OF_MEMORY => Failure::Memory,
            _ => Failure::Thrown(thrown),
        })
    }

    fn run<T>(
        &self,
        call: impl for<'js> FnOnce(&Ctx<'js>) -> rquickjs::Result<T>,
    ) -> Result<T, Thrown> {
        self.context.with(|ctx| {
            let done = call(&ctx).catch(&ctx);
            done.map_err(|error| describe(&ctx, error))
        })
    }
}

/// Function sources often end like statements.
fn trimmed(source: &str) -> &str {
    source.trim_end_matches(|c: char| c == ';' || c.is_whitespace())
}

/// Names what was thrown as CouchDB's query server does.
fn describe<'js>(ctx: &Ctx<'js>, error: CaughtError<'js>) -> Thrown {
    let (name, reason) = match error {
        CaughtError::Exception(exception) => {
            let name = exception.as_object().get::<_, String>("name");
            let message = exception.message().unwrap_or_default();
            (name.unwrap_or_else(|_| "Error".to_owned()), message)
        }
        CaughtError::Value(value) => named(&value).unwrap_or_else(|| {
            let unnamed = "unnamed_error".to_owned();
            (unnamed, text(ctx, value).unwrap_or_default())
        }),
        // A text that the heap has no room for ends in one of these.
        CaughtError::Error(rquickjs::Error::Allocation | rquickjs::Error::Unknown) => {
            ("InternalError".to_owned(), OUT_OF_MEMORY.to_owned())
        }
        CaughtError::Error(error) => ("Error".to_owned(), error.to_string()),
    };
    let [name, reason] = [name, reason].map(|mut text| {
        if let Some((end, _)) = text.char_indices().nth(REASON_CHARS_MAX) {
            text.truncate(end);
        }
        text
    });
    Thrown { name, reason }
}

/// The name and the reason in `["error", name, reason]` and in `{error: name, reason: …}`.
fn named(value: &Value<'_>) -> Option<(String, String)> {
    if let Some(list) = value.as_array() {
        let kind: String = list.get(0).ok()?;
        return match kind.as_str() {
            "error" | "fatal" => Some((list.get(1).ok()?, list.get(2).ok()?)),
            _ => None,
        };
    }
    let object = value.as_object()?;
    Some((object.get("error").ok()?, object.get("reason").ok()?))
}

/// A value as text: a string as it is, others as JSON.
fn text<'js>(ctx: &Ctx<'js>, value: Value<'js>) -> Option<String> {
    if let Some(text) = value.as_string() {
        return text.to_string().ok();
    }
    ctx.json_stringify(value).ok()??.to_string().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(source: &str) -> Result<Script, Failure> {
        let design = r#"{"lib":{"a":"exports.three = 3;","b":{"c":"exports.four = require('../a').three + 1"}}}"#;
        Script::new(Kind::Single, source, design, 4 << 20)
    }

    fn filter(script: &Script, doc: &str, request: &str) -> Result<String, Failure> {
        script.call(Method::Filter, &[request, doc])
    }

    #[test]
    fn a_filter_sees_document_and_request() {
        let after = script("function (doc, req) { return doc.year > +req.query.after; };\n");
        let after = after.unwrap();
        let after = |year| {
            let request = format!(r#"{{"query":{{"after":"{year}"}}}}"#);
            filter(&after, r#"{"year":1999}"#, &request).unwrap()
        };
        assert_eq!((&*after(1998), &*after(1999)), ("true", "false"));
    }

    #[test]
    fn a_map_function_emits_or_not() {
        let map = script("doc => { if (doc.a) emit(doc.a, null) }").unwrap();
        let emits = |doc| map.call(Method::Map, &[doc]).unwrap();
        assert_eq!((&*emits(r#"{"a":1}"#), &*emits("{}")), ("true", "false"));
    }

    #[test]
    fn a_validation_forbids_and_says_why() {
        let validate = script(
            "function (doc, old, user, sec) {
               if (old && old.locked) throw({forbidden: 'locked by ' + old.by});
               if (user.roles.indexOf('_admin') < 0) throw({unauthorized: 'admins only'});
               if (doc.broken) null.x;
             }",
        )
        .unwrap();
        let (admin, nobody) = (r#"{"roles":["_admin"]}"#, r#"{"roles":[]}"#);
        let validate = |doc, old, user| validate.call(Method::Validate, &[user, "{}", doc, old]);
        assert_eq!(validate("{}", "null", admin).unwrap(), "null");
        assert_eq!(
            validate("{}", r#"{"locked":true,"by":"anna"}"#, admin).unwrap(),
            r#"["forbidden","locked by anna"]"#
        );
        assert_eq!(
            validate("{}", "null", nobody).unwrap(),
            r#"["unauthorized","admins only"]"#
        );
        let broken = validate(r#"{"broken":1}"#, "null", admin);
        assert!(matches!(broken, Err(Failure::Thrown(_))), "{broken:?}");
    }

    #[test]
    fn views_are_mapped_and_reduced() {
        let source = serde_json::json!({
            "maps": [
                "function (doc) { emit(doc.a); if (doc.b) throw 'b'; emit([doc.a], undefined); }",
                "function (doc) { doc.a = 7; emit(doc.a, require('views/lib/one').two); };",
            ],
            "reduces": ["function (keys, values, again) { return again ? values : keys.length }"],
        });
        let design = r#"{"views":{"lib":{"one":"exports.two = 2"}}}"#;
        let views = Script::new(Kind::Views, &source.to_string(), design, 4 << 20).unwrap();
        let mapped = views.call(Method::Index, &[r#"[{"a":1},{"a":2,"b":3}]"#]);
        assert_eq!(
            mapped.unwrap(),
            r#"[[[[1,null],[[1],null]],[[1,2]]],[[],[[2,2]]]]"#
        );
        let reduce = |kind, values| views.call(Method::Reduce, &["0", kind, values]).unwrap();
        assert_eq!(reduce("reduce", r#"[[[1,"a"],2],[[3,"b"],4]]"#), "2");
        assert_eq!(reduce("rereduce", "[2,1]"), "[2,1]");
        let long = format!("[\"{}\"]", "x".repeat(5000));
        assert!(reduce("rereduce", &long).starts_with("{\"reduce_overflow_error\":"));
    }

    #[test]
    fn rows_that_take_too_much_memory_are_an_error_and_not_missing() {
        let source = serde_json::json!({
            "maps": [
                "function (doc) { emit(doc._id, doc.a) }",
                "function (doc) { emit(doc._id) }",
                "function (doc) { emit(doc, doc) }",
            ],
            "reduces": ["function () { const a = []; for (;;) a.push('x'.repeat(1000) + a.length) }"],
        });
        let (mut whole, mut refused) = (0, 0);
        for letter in ["z", "日"] {
            for length in (1..60).map(|step| step * 20_000) {
                let views = Script::new(Kind::Views, &source.to_string(), "{}", 4 << 20).unwrap();
                let text = letter.repeat(length);
                let docs = format!(r#"[{{"_id":"big","a":"{text}"}}]"#);
                match views.call(Method::Index, &[&docs]) {
                    Ok(rows) => {
                        assert_eq!(rows.matches(&*text).count(), 3, "{length}");
                        assert_eq!(rows.matches(r#""big""#).count(), 4, "{length}");
                        whole += 1;
                    }
                    Err(failure) => {
                        assert_eq!(failure, Failure::Memory, "{length}");
                        refused += 1;
                    }
                }
            }
        }
        assert!(whole > 0 && refused > 0, "{whole} {refused}");
        let views = Script::new(Kind::Views, &source.to_string(), "{}", 4 << 20).unwrap();
        let reduced = views.call(Method::Reduce, &["0", "reduce", "[[[1,\"a\"],2]]"]);
        assert_eq!(reduced, Err(Failure::Memory));
    }

    #[test]
    fn modules_of_the_design_document_are_found() {
        let four = script("() => require('lib/b/c').four === 4").unwrap();
        assert_eq!(filter(&four, "{}", "{}").unwrap(), "true");
        let missing = script("() => require('lib/none')").unwrap();
        assert!(filter(&missing, "{}", "{}").is_err());
    }

    #[test]
    fn what_is_no_function_is_refused() {
        for source in ["", "1", "function (", "throw 1", "'a'); throw('x'"] {
            let refused = script(source).unwrap_err();
            assert!(
                matches!(refused, Failure::Compile(_)),
                "{source}: {refused:?}"
            );
        }
    }

    #[test]
    fn memory_and_stack_end_in_errors() {
        for body in [
            "const a = []; for (;;) a.push('x'.repeat(1000) + a.length)",
            "return 'x'.repeat(1 << 29).length > 0",
            "function f() { return f() + 1 } return f()",
            "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return JSON.stringify(a)",
        ] {
            let greedy = script(&format!("function () {{ {body} }}")).unwrap();
            assert!(filter(&greedy, "{}", "{}").is_err(), "{body}");
        }
        let deep = script("() => true").unwrap();
        let nested = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(filter(&deep, &nested, "{}").is_err());
        assert_eq!(filter(&deep, "{}", "{}").unwrap(), "true", "it still works");
    }

    #[test]
    fn what_is_thrown_is_named() {
        for (thrown, name, reason) in [
            ("new RangeError('far')", "RangeError", "far"),
            ("['error', 'not_found', 'gone']", "not_found", "gone"),
            ("({error: 'late', reason: 'why'})", "late", "why"),
            ("'text'", "unnamed_error", "text"),
            (
                "({forbidden: 'x'})",
                "unnamed_error",
                r#"{"forbidden":"x"}"#,
            ),
            ("null", "unnamed_error", "null"),
        ] {
            let throws = script(&format!("() => {{ throw {thrown} }}")).unwrap();
            let [name, reason] = [name, reason].map(str::to_owned);
            let expected = Failure::Thrown(Thrown { name, reason });
            assert_eq!(filter(&throws, "{}", "{}"), Err(expected), "{thrown}");
        }
    }

    #[test]
    fn a_long_reason_is_cut() {
        let long = script("() => { throw new Error('é'.repeat(100000)) }").unwrap();
        let Err(Failure::Thrown(Thrown { reason, .. })) = filter(&long, "{}", "{}") else {
            panic!("it throws")
        };
        assert_eq!(reason.chars().count(), REASON_CHARS_MAX);
    }

    #[test]
    fn there_is_no_way_out() {
        let names = [
            "process",
            "std",
            "os",
            "fetch",
            "print",
            "load",
            "XMLHttpRequest",
        ];
        for name in names {
            let outside = script(&format!("() => typeof {name} === 'undefined'")).unwrap();
            assert_eq!(filter(&outside, "{}", "{}").unwrap(), "true", "{name}");
        }
    }
}
