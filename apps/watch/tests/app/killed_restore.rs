//! A restore that is killed at its system calls, from the owner's page and by command: the database has the old content or that of
//! the backup, the server comes up, and no file stays that nobody needs.
//!
//! strace kills the process when one of its threads enters its n-th call of a name: `inject` of `strace(1)`.

use crate::{
    client::{MULTIPART, PASSWORD, multipart},
    common::{PROGRAM, Server, new_file, query, run},
};
use inorder_watch::{
    db::{Database, users},
    password,
    secret::Secret,
};
use std::{
    fs,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// The system calls that change a file or wait for the disk. Those of one line are counted together.
const CALLS: [&str; 5] = [
    "pwrite64",
    "write",
    "ftruncate",
    "fsync,fdatasync",
    "linkat,unlink",
];

/// More than any thread of a restore makes of one call.
const CALLS_MAX: u32 = 10_000;

/// All rows that a list is made of.
const LISTS: &str = "SELECT group_concat(line) FROM
    (SELECT folded || ' ' || film || ' ' || priority || ' ' || coalesce(note, '') AS line
     FROM user LEFT JOIN entry ON entry.user = user.number ORDER BY 1)";

/// A database, a backup of what it had before, and its owner's session.
struct Before {
    folder: tempfile::TempDir,
    session: Secret,
    lists: String,
    lists_of_backup: String,
}

impl Before {
    fn new() -> Self {
        let (folder, db) = new_file();
        let credentials = folder.path().join("credentials");
        let arguments = [
            "seed",
            "--users",
            "40",
            "--movies",
            "50",
            "--films",
            "400",
            "--credentials",
            credentials.to_str().unwrap(),
        ];
        let (worked, _, err) = run(&db, &arguments, "");
        assert!(worked, "{err}");
        let owner = query(&db, "SELECT name FROM user WHERE is_owner");
        let lines = fs::read_to_string(credentials).unwrap();
        let mut lines = lines
            .lines()
            .map(|line| line.split(' ').collect::<Vec<_>>());
        let line = lines.find(|line| line[0] == owner).unwrap();
        let session: Secret = line[1].parse().unwrap();
        let hash = password::hash(PASSWORD).unwrap();
        let set = move |db: &rusqlite::Connection| {
            let owner = users::by_name(db, &owner)?.number;
            users::set_password(db, owner, Some(&hash), Some(session.hash()))
        };
        Database::open(&db).unwrap().write_now(set).unwrap();
        let backup = folder.path().join("backup.db");
        let (worked, _, err) = run(&db, &["backup", backup.to_str().unwrap()], "");
        assert!(worked, "{err}");
        let change = |db: &rusqlite::Connection| {
            users::add(db, "Newcomer", None)?;
            db.execute_batch(
                "DELETE FROM entry WHERE film % 3 = 0; UPDATE entry SET note = 'of now'",
            )?;
            Ok(())
        };
        Database::open(&db).unwrap().write_now(change).unwrap();
        let (lists, lists_of_backup) = (query(&db, LISTS), query(&backup, LISTS));
        assert_ne!(lists, lists_of_backup);
        Before {
            folder,
            session,
            lists,
            lists_of_backup,
        }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Starts the server after a restore that was killed or done, and returns whether the content is that of the backup.
    async fn check(&self, db: &Path, case: &str) -> bool {
        let folder = db.parent().unwrap();
        let server = Server::start(db);
        let answer = self.request(&server, "GET", "/", Vec::new()).await;
        assert_eq!(query(db, "PRAGMA integrity_check"), "ok", "{case}");
        let strays = "SELECT count(*) FROM pragma_foreign_key_check";
        assert_eq!(query(db, strays), "0", "{case}");
        let lists = query(db, LISTS);
        let is_restored = lists == self.lists_of_backup;
        assert!(
            is_restored || lists == self.lists,
            "{case}: neither the old nor the new content"
        );
        // Only the owner's page knows a session that goes on.
        let is_in = answer.is_ok_and(|answer| answer.status() == 200);
        assert!(is_in || is_restored, "{case}: the owner is signed out");
        assert!(server.stop(), "{case}");
        let names = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> = names
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != "watch.db")
            .collect();
        if let Some(before) = names.pop() {
            assert!(
                before.starts_with("watch.db-before-") && before.ends_with(".db"),
                "{case}: {before}"
            );
            let before = folder.join(before);
            assert_eq!(query(&before, "PRAGMA integrity_check"), "ok", "{case}");
            assert_eq!(query(&before, LISTS), self.lists, "{case}");
        }
        assert_eq!(
            names,
            Vec::<String>::new(),
            "{case}: files that nobody needs"
        );
        is_restored
    }

    async fn request(
        &self,
        server: &Server,
        method: &str,
        path: &str,
        body: Vec<u8>,
    ) -> reqwest::Result<reqwest::Response> {
        let client = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .build()?;
        let request = client
            .request(method.parse().unwrap(), format!("{}{path}", server.address))
            .header("cookie", format!("session={}", self.session))
            .header("content-type", MULTIPART);
        request.body(body).send().await
    }

    /// Kills a restore at the first call of each name, then at the third, the ninth and so on, until one is not killed. With
    /// `INORDER_STOPS=all` at each.
    async fn kill_everywhere(&self, restore: impl AsyncFn(Command, &Path)) {
        let is_all = std::env::var("INORDER_STOPS").is_ok_and(|all| all == "all");
        let mut restored = [0; 2];
        for call in CALLS {
            let mut when = 1;
            loop {
                assert!(when < CALLS_MAX, "{call} is called without end");
                let folder = tempfile::tempdir().unwrap();
                let db = folder.path().join("watch.db");
                fs::copy(self.file("watch.db"), &db).unwrap();
                let mut command = Command::new("strace");
                command
                    .args(["-f", "-qq", "-o"])
                    .arg(self.file("trace"))
                    .args(["-e", &format!("trace={call}")])
                    .args(["-e", &format!("inject={call}:signal=SIGKILL:when={when}")])
                    .arg(PROGRAM);
                restore(command, &db).await;
                let case = format!("{call} {when}");
                let is_restored = self.check(&db, &case).await;
                let trace = fs::read_to_string(self.file("trace")).unwrap();
                if !trace.contains("killed by SIGKILL") {
                    assert!(is_restored, "{case}: no error, and the old content");
                    break;
                }
                restored[usize::from(is_restored)] += 1;
                when = if is_all { when + 1 } else { when * 3 };
            }
        }
        println!(
            "killed before the commit {}, after it {}",
            restored[0], restored[1]
        );
        assert!(restored[0] > 0 && restored[1] > 0, "{restored:?}");
    }
}

#[tokio::test]
async fn a_restore_from_the_page_is_whole_or_nothing_when_the_server_is_killed() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let before = Before::new();
    let backup = fs::read(before.file("backup.db")).unwrap();
    let restore = async |mut command: Command, db: &Path| {
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--db"])
            .arg(db)
            .process_group(0);
        let Some(server) = Server::run(command, db) else {
            return;
        };
        let token = before.session.form_token();
        let fields = [("token", token.as_str()), ("confirm", PASSWORD)];
        let body = multipart(&fields, ("watch.db", &backup));
        match before
            .request(&server, "POST", "/users/restore", body)
            .await
        {
            Ok(answer) => {
                assert_eq!(answer.status(), 200, "{}", answer.text().await.unwrap());
                // It may be killed now.
                server.stop_group();
            }
            Err(error) => assert!(server.ends(), "{error}"),
        }
    };
    before.kill_everywhere(restore).await;
}

#[tokio::test]
async fn a_restore_by_command_is_whole_or_nothing_when_it_is_killed() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let before = Before::new();
    let restore = async |mut command: Command, db: &Path| {
        let command = command
            .arg("restore")
            .arg(before.file("backup.db"))
            .arg("--db")
            .arg(db);
        command.stderr(Stdio::null()).status().unwrap();
    };
    before.kill_everywhere(restore).await;
}
