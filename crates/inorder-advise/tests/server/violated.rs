//! Every kind of step and every assumption that it makes, violated before the script starts and again at each of its
//! statements by another connection. Then the script fails and names what stands in the way, no value is lost, and the same
//! script does its work once that is gone.

use crate::{
    server::{Client, Server, advice},
    violations::{Kind, MARIADB, POSTGRES, Violation},
};
use inorder_advise::server::{advice::Advice, migrate::Steps};

/// Held by another connection.
const LOCKS: &[(&str, &str)] = &[
    (
        "a lock on the table",
        "LOCK TABLE {t} IN ACCESS EXCLUSIVE MODE",
    ),
    ("a row that is being changed", "UPDATE {t} SET note = note"),
];

/// A server with a fixture, and the steps that were advised for it.
struct Trial<'s> {
    server: &'s Server,
    kind: &'s Kind,
    count: usize,
}

impl Trial<'_> {
    /// Makes the fixture anew.
    fn make(&self) {
        let again: &[&str] = match self.server.is_postgres() {
            true => &["DROP SCHEMA public CASCADE", "CREATE SCHEMA public"],
            false => &[
                "DROP VIEW IF EXISTS v",
                "DROP TABLE IF EXISTS e",
                "DROP TABLE IF EXISTS d",
            ],
        };
        self.server.run(again);
        if !self.server.is_postgres() {
            self.server.run(&["SET SESSION lock_wait_timeout = 1"]);
        }
        self.server.run(self.kind.make);
    }

    fn steps(&self) -> Steps {
        let found: Advice = advice(&self.server.url());
        let mut plans = found.plans.iter();
        let plan = plans.find(|plan| plan.title.starts_with(self.kind.title));
        let plan = plan
            .unwrap_or_else(|| panic!("{}: {:?} {:?}", self.kind.name, found.plans, found.items));
        plan.steps.clone().unwrap()
    }

    fn values(&self) -> Vec<String> {
        self.kind
            .values
            .iter()
            .map(|sql| self.server.one(sql))
            .collect()
    }

    fn is_done(&self) -> bool {
        self.server.one(self.kind.is_done.0) == self.kind.is_done.1
    }

    /// Runs statements. Tells whether the script's locks let them.
    fn act(&self, statements: &str) -> bool {
        // A foreign key's actions and bodies of functions have no semicolon between blanks.
        for statement in statements.split("; ") {
            if let Err(error) = self.server.database.execute(statement) {
                let error = error.to_string();
                let is_kept_out = ["Lock wait timeout", "duplicate key", "Duplicate entry"]
                    .iter()
                    .any(|words| error.contains(words));
                assert!(is_kept_out, "{statement}: {error}");
                return false;
            }
        }
        true
    }

    /// Runs the pieces of a script, and does something before one of them. Tells whether it was done then, and returns the
    /// exit code and what was said.
    fn run(
        &self,
        pieces: &[String],
        at: usize,
        act: &mut dyn FnMut(),
    ) -> (bool, Option<i32>, String) {
        let mut client = Client::start(self.server);
        let mut is_begun = false;
        for (number, piece) in pieces.iter().enumerate() {
            if number == at {
                act();
                is_begun = true;
            }
            if !client.send(piece) {
                break;
            }
        }
        let (code, said) = client.finish();
        (is_begun, code, said)
    }

    /// Violates one assumption at every statement until the change is made.
    fn violate(&mut self, pieces: &[String], violation: &Violation, wanted: bool) {
        // Values are violated at every statement, definitions at every third one.
        let is_value = ["INSERT", "UPDATE", "SET"]
            .iter()
            .any(|word| violation.act.starts_with(word));
        for at in (0..pieces.len()).step_by(if is_value { 1 } else { 3 }) {
            let told = format!(
                "{}, {} at {at} of {}",
                self.kind.name,
                violation.name,
                pieces.len()
            );
            let before = self.values();
            let (mut was_done, mut between) = (false, Vec::new());
            let mut is_kept_out = false;
            let (is_begun, code, said) = self.run(pieces, at, &mut || {
                was_done = self.is_done() == wanted;
                if !was_done {
                    is_kept_out = !self.act(violation.act);
                }
                if !was_done && !is_kept_out {
                    between = self.values();
                }
            });
            assert!(is_begun, "{told}: {said}");
            if was_done {
                assert_eq!(code, Some(0), "{told}: {said}");
                return;
            }
            if is_kept_out {
                // Others wait, and the script does its work.
                assert_eq!((code, self.is_done()), (Some(0), wanted), "{told}: {said}");
                assert_eq!(self.values(), before, "{told}");
                self.reset(wanted);
                continue;
            }
            assert!(!matches!(code, Some(0) | None), "{told}: {said}");
            assert!(
                violation.words.split('|').any(|words| said.contains(words)),
                "{told}: {said}"
            );
            assert_eq!(self.values(), between, "{told}");
            assert_eq!(self.is_done(), !wanted, "{told}: {said}");
            assert!(self.act(violation.heal), "{told}");
            let (_, code, said) = self.run(pieces, 0, &mut || {});
            assert_eq!(code, Some(0), "{told}, second run: {said}");
            assert_eq!(self.is_done(), wanted, "{told}");
            if !violation.act.contains("UPDATE d SET id") {
                assert_eq!(self.values(), before, "{told}, second run");
            }
            self.count += 1;
            self.reset(wanted);
        }
    }

    /// The state from which steps start: before them, or after them for what takes them back.
    fn reset(&self, wanted: bool) {
        self.make();
        if !wanted {
            let steps = self.steps();
            let (_, code, said) = self.run(&self.pieces(&steps, false), 0, &mut || {});
            assert_eq!(code, Some(0), "{said}");
        }
    }

    fn pieces(&self, steps: &Steps, is_back: bool) -> Vec<String> {
        let steps = if is_back { &steps.undo } else { &steps.steps };
        let statements = steps
            .iter()
            .flat_map(|step| step.statements.iter().cloned());
        std::iter::once(self.server.begin())
            .chain(statements)
            .collect()
    }
}

/// Violates every assumption of a kind of step, and prints how many scripts were stopped.
fn matrix(server: &Server, kind: &Kind) {
    let mut trial = Trial {
        server,
        kind,
        count: 0,
    };
    trial.make();
    let steps = trial.steps();
    let (forward, back) = (trial.pieces(&steps, false), trial.pieces(&steps, true));
    for violation in kind.violations {
        trial.violate(&forward, violation, true);
        trial.make();
    }
    locks(&mut trial, &forward, true);
    trial.reset(false);
    for violation in kind.back {
        trial.violate(&back, violation, false);
        trial.reset(false);
    }
    locks(&mut trial, &back, false);
    println!(
        "{}: {} statements and {} that take them back; {} scripts stopped",
        kind.name,
        forward.len(),
        back.len(),
        trial.count
    );
}

/// Locks of another connection before the script starts and at its statements.
fn locks(trial: &mut Trial<'_>, pieces: &[String], wanted: bool) {
    let before = trial.values();
    for (name, statement) in LOCKS {
        // A second client holds the lock.
        let mut holder = Client::start(trial.server);
        let sql = match trial.server.is_postgres() {
            true => format!("BEGIN;\n{};", statement.replace("{t}", "d")),
            false if statement.starts_with("LOCK") => "LOCK TABLES d WRITE;".to_owned(),
            false => format!(
                "BEGIN;\n{};",
                statement
                    .replace("{t}", "d")
                    .replace("note = note", "note = concat(note, '')")
            ),
        };
        let (_, code, said) = trial.run(pieces, 1, &mut || assert!(holder.send(&sql)));
        assert!(
            !matches!(code, Some(0) | None),
            "{}, {name}: {said}",
            trial.kind.name
        );
        let words = ["no lock on", "lock timeout", "Lock wait timeout exceeded"];
        assert!(
            words.iter().any(|words| said.contains(words)),
            "{}, {name}: {said}",
            trial.kind.name
        );
        holder.finish();
        assert_eq!(trial.values(), before);
        assert_eq!(trial.is_done(), !wanted, "{said}");
        trial.count += 1;
    }
    let (_, code, said) = trial.run(pieces, 0, &mut || {});
    assert_eq!(
        (code, trial.is_done(), trial.values()),
        (Some(0), wanted, before),
        "{said}"
    );
    trial.make();
}

/// Runs the matrix of one kind on a server of its own.
fn kind(engine: &str, kinds: &[Kind], name: &str) {
    let kind = kinds.iter().find(|kind| kind.name == name).unwrap();
    if let Some(server) = Server::start(engine) {
        matrix(&server, kind);
    }
}

#[test]
fn postgres_proves_what_a_script_relies_on_drop_index() {
    kind("postgres", POSTGRES, "drop index");
}

#[test]
fn postgres_proves_what_a_script_relies_on_drop_constraint() {
    kind("postgres", POSTGRES, "drop constraint");
}

#[test]
fn postgres_proves_what_a_script_relies_on_partial_index() {
    kind("postgres", POSTGRES, "partial index");
}

#[test]
fn postgres_proves_what_a_script_relies_on_uuid() {
    kind("postgres", POSTGRES, "uuid");
}

#[test]
fn postgres_proves_what_a_script_relies_on_bytes() {
    kind("postgres", POSTGRES, "16 bytes");
}

#[test]
fn postgres_proves_what_a_script_relies_on_digests() {
    kind("postgres", POSTGRES, "digests");
}

#[test]
fn mariadb_proves_what_a_script_relies_on_digests() {
    kind("mariadb", MARIADB, "digests");
}

#[test]
fn postgres_proves_what_a_script_relies_on_bigint() {
    kind("postgres", POSTGRES, "bigint");
}

#[test]
fn mariadb_proves_what_a_script_relies_on_drop_index() {
    kind("mariadb", MARIADB, "drop index");
}

#[test]
fn mariadb_proves_what_a_script_relies_on_uuid() {
    kind("mariadb", MARIADB, "uuid");
}

#[test]
fn mariadb_proves_what_a_script_relies_on_bytes() {
    kind("mariadb", MARIADB, "16 bytes");
}

#[test]
fn mariadb_proves_what_a_script_relies_on_bigint() {
    kind("mariadb", MARIADB, "bigint");
}

#[test]
fn postgres_proves_what_a_script_relies_on_both_cases() {
    kind("postgres", POSTGRES, "both cases");
}

#[test]
fn mariadb_proves_what_a_script_relies_on_both_cases() {
    kind("mariadb", MARIADB, "both cases");
}
