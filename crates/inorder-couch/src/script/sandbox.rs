//! One function in a runtime of its own.

use rquickjs::{CatchResultExt, CaughtError, Context, Ctx, Function, Object, Runtime};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What one function may use.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The heap with the documents in it.
    pub memory_bytes_max: usize,
    /// One call, and making the function.
    pub time_max: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            memory_bytes_max: 64 << 20,
            time_max: Duration::from_secs(5),
        }
    }
}

/// Calls within calls; well within a thread's 2 MiB.
const STACK_BYTES_MAX: usize = 512 << 10;

/// What went wrong in a function of a design document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptError {
    /// It is no function, or says what can't be understood.
    #[error("The function cannot be compiled: {0}")]
    Compile(String),
    /// It threw, or ran out of memory or stack.
    #[error("The function failed: {0}")]
    Failed(String),
    /// It took longer than its limit.
    #[error("The function was stopped after {0:?}.")]
    Timeout(Duration),
}

/// What a validation function says about an update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It may be written.
    Fine,
    /// It may not, and why.
    Forbidden(String),
    /// Not by this user, and why.
    Unauthorized(String),
}

/// One function of a design document, ready to be called.
pub struct Script {
    context: Context,
    clock: Arc<Clock>,
    limits: Limits,
}

impl std::fmt::Debug for Script {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Script")
    }
}

/// When the running call must end, in microseconds since the clock was made.
struct Clock {
    start: Instant,
    end: AtomicU64,
}

impl Clock {
    fn elapsed_micros(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    fn set(&self, time: Duration) {
        let time = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let end = self.elapsed_micros().saturating_add(time);
        self.end.store(end, Ordering::Relaxed);
    }

    fn is_over(&self) -> bool {
        self.elapsed_micros() > self.end.load(Ordering::Relaxed)
    }
}

/// The name the callable is kept under in the global object.
const CALLABLE: &str = "\u{0}callable";

impl Script {
    /// Compiles `source`, a function expression of the design document `design` (JSON).
    ///
    /// # Errors
    /// When it is no function, or making it takes too much memory or time.
    pub fn new(source: &str, design: &str, limits: Limits) -> Result<Self, ScriptError> {
        let start = |error: rquickjs::Error| ScriptError::Failed(error.to_string());
        let runtime = Runtime::new().map_err(start)?;
        runtime.set_memory_limit(limits.memory_bytes_max);
        runtime.set_max_stack_size(STACK_BYTES_MAX);
        let clock = Arc::new(Clock {
            start: Instant::now(),
            end: AtomicU64::new(u64::MAX),
        });
        let watch = Arc::clone(&clock);
        runtime.set_interrupt_handler(Some(Box::new(move || watch.is_over())));
        let context = Context::full(&runtime).map_err(start)?;
        let script = Script {
            context,
            clock,
            limits,
        };
        script
            .run(|ctx| {
                let make: Function = ctx.eval(include_str!("prelude.js"))?;
                let callable: Object = make.call((trimmed(source), design))?;
                ctx.globals().set(CALLABLE, callable)
            })
            .map_err(|error| match error {
                ScriptError::Failed(reason) => ScriptError::Compile(reason),
                other => other,
            })?;
        Ok(script)
    }

    /// What a filter function says about a document; `request` is CouchDB's request object. All JSON.
    ///
    /// # Errors
    /// When the function throws or takes too much memory or time.
    pub fn filter(&self, doc: &str, request: &str) -> Result<bool, ScriptError> {
        self.run(|ctx| method(ctx, "filter")?.call((doc, request)))
    }

    /// Whether a map function emits anything for a document (JSON).
    ///
    /// # Errors
    /// When the function throws or takes too much memory or time.
    pub fn emits(&self, doc: &str) -> Result<bool, ScriptError> {
        self.run(|ctx| method(ctx, "map")?.call((doc,)))
    }

    /// What a validation function says about `doc` in place of `old`, by `user`. All JSON, `old` may be `null`.
    ///
    /// # Errors
    /// When the function throws anything else, or takes too much memory or time.
    pub fn validate(
        &self,
        doc: &str,
        old: &str,
        user: &str,
        security: &str,
    ) -> Result<Verdict, ScriptError> {
        let thrown: Option<String> =
            self.run(|ctx| method(ctx, "validate")?.call((doc, old, user, security)))?;
        let Some(thrown) = thrown else {
            return Ok(Verdict::Fine);
        };
        let (kind, reason): (String, String) = serde_json::from_str(&thrown)
            .map_err(|error| ScriptError::Failed(error.to_string()))?;
        match kind.as_str() {
            "forbidden" => Ok(Verdict::Forbidden(reason)),
            "unauthorized" => Ok(Verdict::Unauthorized(reason)),
            _ => Err(ScriptError::Failed(reason)),
        }
    }

    fn run<T>(
        &self,
        call: impl for<'js> FnOnce(&Ctx<'js>) -> rquickjs::Result<T>,
    ) -> Result<T, ScriptError> {
        self.context.with(|ctx| {
            self.clock.set(self.limits.time_max);
            let result = call(&ctx).catch(&ctx);
            result.map_err(|error| {
                if self.clock.is_over() {
                    ScriptError::Timeout(self.limits.time_max)
                } else {
                    ScriptError::Failed(describe(error))
                }
            })
        })
    }
}

fn method<'js>(ctx: &Ctx<'js>, name: &str) -> rquickjs::Result<Function<'js>> {
    ctx.globals().get::<_, Object>(CALLABLE)?.get(name)
}

/// Function sources often end like statements.
fn trimmed(source: &str) -> &str {
    source.trim_end_matches(|c: char| c == ';' || c.is_whitespace())
}

fn describe(error: CaughtError<'_>) -> String {
    match error {
        CaughtError::Exception(exception) => exception.message().unwrap_or_default(),
        CaughtError::Value(value) => {
            let text = value.as_string().and_then(|text| text.to_string().ok());
            text.unwrap_or_else(|| "it threw a value that is no Error".to_owned())
        }
        CaughtError::Error(error) => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(source: &str) -> Result<Script, ScriptError> {
        let limits = Limits {
            memory_bytes_max: 4 << 20,
            time_max: Duration::from_millis(200),
        };
        let design = r#"{"lib":{"a":"exports.three = 3;","b":{"c":"exports.four = require('../a').three + 1"}}}"#;
        Script::new(source, design, limits)
    }

    #[test]
    fn a_filter_sees_document_and_request() {
        let filter = script("function (doc, req) { return doc.year > +req.query.after; };\n");
        let filter = filter.unwrap();
        let after = |year| {
            filter.filter(
                r#"{"year":1999}"#,
                &format!(r#"{{"query":{{"after":"{year}"}}}}"#),
            )
        };
        assert_eq!((after(1998), after(1999)), (Ok(true), Ok(false)));
    }

    #[test]
    fn a_map_function_emits_or_not() {
        let map = script("doc => { if (doc.a) emit(doc.a, null) }").unwrap();
        assert_eq!(map.emits(r#"{"a":1}"#), Ok(true));
        assert_eq!(map.emits("{}"), Ok(false));
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
        assert_eq!(
            validate.validate("{}", "null", admin, "{}"),
            Ok(Verdict::Fine)
        );
        assert_eq!(
            validate.validate("{}", r#"{"locked":true,"by":"anna"}"#, admin, "{}"),
            Ok(Verdict::Forbidden("locked by anna".into()))
        );
        assert_eq!(
            validate.validate("{}", "null", nobody, "{}"),
            Ok(Verdict::Unauthorized("admins only".into()))
        );
        let broken = validate.validate(r#"{"broken":1}"#, "null", admin, "{}");
        assert!(matches!(broken, Err(ScriptError::Failed(_))), "{broken:?}");
    }

    #[test]
    fn modules_of_the_design_document_are_found() {
        let filter = script("() => require('lib/b/c').four === 4").unwrap();
        assert_eq!(filter.filter("{}", "{}"), Ok(true));
        let missing = script("() => require('lib/none')").unwrap();
        assert!(missing.filter("{}", "{}").is_err());
    }

    #[test]
    fn what_is_no_function_is_refused() {
        for source in ["", "1", "function (", "throw 1", "'a'); throw('x'"] {
            let refused = script(source).unwrap_err();
            assert!(
                matches!(refused, ScriptError::Compile(_)),
                "{source}: {refused:?}"
            );
        }
    }

    #[test]
    fn endless_loops_end() {
        for body in [
            "for (;;);",
            "while (true) { try { for (;;); } catch (e) {} }",
            "return /^(a+)+$/.test('a'.repeat(40) + 'b')",
        ] {
            let endless = script(&format!("function () {{ {body} }}")).unwrap();
            let result = endless.filter("{}", "{}");
            assert!(
                matches!(result, Err(ScriptError::Timeout(_))),
                "{body}: {result:?}"
            );
        }
        let endless = script("(() => { for (;;); })()").unwrap_err();
        assert!(matches!(endless, ScriptError::Timeout(_)));
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
            assert!(greedy.filter("{}", "{}").is_err(), "{body}");
        }
        let deep = script("() => true").unwrap();
        let nested = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(deep.filter(&nested, "{}").is_err());
        assert_eq!(deep.filter("{}", "{}"), Ok(true), "it still works");
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
            assert_eq!(outside.filter("{}", "{}"), Ok(true), "{name}");
        }
    }
}
