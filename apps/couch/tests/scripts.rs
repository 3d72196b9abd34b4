//! Functions in processes of their own: many calls, calls that fail, and processes that die.

use inorder_couch::script::{
    Function, Owner, Purpose, ScriptError, ScriptLimits, ScriptSettings, Scripts, Verdict,
};
use std::time::Duration;

fn scripts(memory_bytes_max: usize, time_max: Duration) -> Scripts {
    Scripts::new(ScriptSettings {
        limits: ScriptLimits {
            memory_bytes_max: Some(memory_bytes_max),
            time_max,
            ..ScriptLimits::default()
        },
        program: env!("CARGO_BIN_EXE_inorder-couch").into(),
    })
}

fn ordinary() -> Scripts {
    scripts(16 << 20, Duration::from_secs(60))
}

fn owner() -> Owner {
    Owner {
        database: "db".to_owned(),
        purpose: Purpose::Read,
    }
}

type Answers = Result<Vec<bool>, ScriptError>;

async fn filter(scripts: &Scripts, function: &Function, request: &str, docs: &[&str]) -> Answers {
    scripts.filter(&owner(), function, request, docs).await
}

async fn emits(scripts: &Scripts, function: &Function, docs: &[&str]) -> Answers {
    scripts.emits(&owner(), function, docs).await
}

async fn validate(
    scripts: &Scripts,
    function: &Function,
    updates: &[&str],
) -> Vec<Result<Verdict, ScriptError>> {
    let (user, security) = ("{}", "{}");
    scripts
        .validate(&owner(), function, user, security, updates)
        .await
}

fn function(source: &str) -> Function {
    Function::new(source.to_owned(), "{}".to_owned())
}

/// The processes this one has started, with functions of such a limit.
fn hosts(memory_bytes_max: usize) -> Vec<i32> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let lists =
        tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("children")).ok());
    let lists: Vec<String> = lists.collect();
    let pids = lists.iter().flat_map(|list| list.split_whitespace());
    let is_meant = |pid: &&str| {
        let command = std::fs::read_to_string(format!("/proc/{pid}/cmdline"));
        command.is_ok_and(|command| command.contains(&(4 * memory_bytes_max).to_string()))
    };
    pids.filter(is_meant)
        .map(|pid| pid.parse().unwrap())
        .collect()
}

#[tokio::test]
async fn answers_come_in_the_order_of_the_calls() {
    let scripts = ordinary();
    let documents: Vec<String> = (0..3000).map(|at| format!("{{\"at\":{at}}}")).collect();
    let documents: Vec<&str> = documents.iter().map(String::as_str).collect();
    let odd = function("(doc, req) => doc.at % 2 === req.rest");
    let odd = filter(&scripts, &odd, "{\"rest\":1}", &documents)
        .await
        .unwrap();
    assert_eq!(odd.len(), 3000);
    assert!(
        odd.iter()
            .enumerate()
            .all(|(at, odd)| *odd == (at % 2 == 1))
    );
    let large = format!("{{\"text\":\"{}\"}}", "x".repeat(5 << 20));
    let map = function("doc => { if (doc.text.length > 5e6) emit(1) }");
    let documents = [large.as_str(), "{\"text\":\"\"}"];
    assert_eq!(
        emits(&scripts, &map, &documents).await.unwrap(),
        [true, false]
    );
}

#[tokio::test]
async fn many_calls_at_once_share_a_few_processes() {
    let scripts = ordinary();
    let calls = (0..200).map(|at| {
        let scripts = scripts.clone();
        async move {
            let even = function("doc => doc.at % 2 === 0");
            let document = format!("{{\"at\":{at}}}");
            let answer = loop {
                // A slow machine sends calls away that have waited for seconds.
                match filter(&scripts, &even, "{}", &[&document]).await {
                    Err(ScriptError::Busy) => {}
                    answer => break answer,
                }
            };
            assert_eq!(answer.unwrap(), [at % 2 == 0]);
        }
    });
    futures_util::future::join_all(calls).await;
}

#[tokio::test]
async fn a_function_that_fails_is_called_again() {
    let scripts = ordinary();
    let updates = ["{}", "null", "{\"bad\":1}", "null", "{}", "null"];
    let broken = function("doc => { if (doc.bad) null.x }");
    let verdicts = validate(&scripts, &broken, &updates).await;
    assert!(
        matches!(
            &verdicts[..],
            [
                Ok(Verdict::Fine),
                Err(ScriptError::Thrown { .. }),
                Ok(Verdict::Fine)
            ]
        ),
        "{verdicts:?}"
    );
    // State kept between calls fills its memory: then the process is replaced.
    let keeps = function(
        "(() => { const kept = []; return doc => { kept.push('x'.repeat(3e6)); return true } })()",
    );
    let (mut passed, mut failed) = (0, 0);
    // A busy machine spreads the calls over several processes, each with a memory of its own.
    while failed < 3 {
        assert!(passed < 300, "it never fills its memory");
        match filter(&scripts, &keeps, "{}", &["{}"]).await {
            Ok(passes) => {
                assert_eq!(passes, [true]);
                passed += 1;
            }
            Err(error) => {
                assert_eq!(error, ScriptError::Memory(16 << 20));
                failed += 1;
            }
        }
    }
    assert!(passed >= failed, "{passed} calls passed, {failed} failed");
}

#[tokio::test]
async fn a_function_that_is_none_says_so_before_it_is_called() {
    let scripts = ordinary();
    let none = function("function (");
    for _ in 0..2 {
        let compiled = scripts.compile(&owner(), &none).await;
        assert!(
            matches!(compiled, Err(ScriptError::Compile(_))),
            "{compiled:?}"
        );
        let called = filter(&scripts, &none, "{}", &["{}"]).await;
        assert!(matches!(called, Err(ScriptError::Compile(_))), "{called:?}");
    }
    scripts
        .compile(&owner(), &function("doc => true"))
        .await
        .unwrap();
}

#[tokio::test]
async fn what_never_returns_is_ended_and_nothing_behind_it_is_tried() {
    let scripts = scripts(16 << 20, Duration::from_secs(3));
    let endless = function("doc => { if (doc.endless) for (;;); }");
    let updates = ["{}", "null", "{\"endless\":1}", "null", "{}", "null"];
    let verdicts = validate(&scripts, &endless, &updates).await;
    assert_eq!(verdicts.len(), 2);
    assert_eq!(verdicts[0], Ok(Verdict::Fine));
    assert_eq!(
        verdicts[1],
        Err(ScriptError::Timeout(Duration::from_secs(3)))
    );
    let fine = validate(&scripts, &endless, &updates[..2]).await;
    assert_eq!(fine, [Ok(Verdict::Fine)]);
    let never_made = function("(() => { for (;;); })()");
    let made = scripts.compile(&owner(), &never_made).await;
    assert!(matches!(made, Err(ScriptError::Timeout(_))), "{made:?}");
}

#[tokio::test]
async fn too_many_that_never_return_are_ended_early() {
    let scripts = scripts(16 << 20, Duration::from_secs(8));
    let endless = function("doc => { for (;;); }");
    let begun = std::time::Instant::now();
    let busy = {
        let calls = (0..40).map(|_| {
            let (scripts, endless) = (scripts.clone(), endless.clone());
            tokio::spawn(async move { emits(&scripts, &endless, &["{}"]).await })
        });
        let calls: Vec<_> = calls.collect();
        let fine = emits(&scripts, &function("doc => emit(1)"), &["{}"]).await;
        assert_eq!(fine.unwrap(), [true]);
        assert!(
            begun.elapsed() < Duration::from_secs(8),
            "it waits for none of them"
        );
        let mut busy = 0;
        for call in calls {
            match call.await.unwrap() {
                Err(ScriptError::Busy) => busy += 1,
                other => assert!(matches!(other, Err(ScriptError::Timeout(_))), "{other:?}"),
            }
        }
        busy
    };
    assert!((20..40).contains(&busy), "{busy}");
}

#[tokio::test]
async fn a_process_that_is_gone_is_replaced() {
    // So that no other test's is meant.
    let memory_bytes_max = 12_345_678;
    let scripts = scripts(memory_bytes_max, Duration::from_secs(60));
    let fine = function("doc => true");
    for _ in 0..3 {
        assert_eq!(filter(&scripts, &fine, "{}", &["{}"]).await, Ok(vec![true]));
        let hosts = hosts(memory_bytes_max);
        assert_eq!(hosts.len(), 1);
        for pid in hosts {
            let pid = rustix::process::Pid::from_raw(pid).unwrap();
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    }
    for program in ["/bin/false", "/nothing"] {
        let scripts = Scripts::new(ScriptSettings {
            program: program.into(),
            ..ScriptSettings::default()
        });
        let called = filter(&scripts, &fine, "{}", &["{}"]).await;
        assert!(
            matches!(called, Err(ScriptError::Failed(_))),
            "{program}: {called:?}"
        );
    }
}
