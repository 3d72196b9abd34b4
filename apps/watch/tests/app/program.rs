//! The program: what its commands do, and what is left when it is killed.

use crate::common::{PROGRAM, Server, new_file, query, run};
use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

/// Times the server is killed.
const KILLS: usize = 4;

/// Writers that are writing when it is.
const WRITERS: usize = 4;

/// A file with some people, and their tokens.
fn seeded(db: &Path, users: usize) -> Vec<String> {
    let credentials = db.with_extension("credentials");
    let users = users.to_string();
    let arguments = [
        "seed",
        "--users",
        &users,
        "--movies",
        "5",
        "--films",
        "500",
        "--credentials",
        credentials.to_str().unwrap(),
    ];
    let (worked, _, err) = run(db, &arguments, "");
    assert!(worked, "{err}");
    let lines = fs::read_to_string(credentials).unwrap();
    lines
        .lines()
        .map(|line| line.split(' ').nth(2).unwrap().to_owned())
        .collect()
}

/// Adds films until the server is killed; returns the acknowledged ones.
async fn write_until_killed(
    client: reqwest::Client,
    address: String,
    token: String,
    films: Arc<Vec<String>>,
    acknowledged: Arc<AtomicUsize>,
) -> Vec<String> {
    let mut done = Vec::new();
    for film in films.iter() {
        let request = client
            .put(format!("{address}/api/v1/list/{film}"))
            .bearer_auth(&token);
        let answer = request
            .header("content-type", "application/json")
            .body("{\"note\":\"acknowledged\"}")
            .send()
            .await;
        match answer {
            Ok(answer) => assert_eq!(
                answer.status(),
                200,
                "busy, or another error, reached somebody"
            ),
            Err(_) => break,
        }
        done.push(film.clone());
        acknowledged.fetch_add(1, Ordering::Relaxed);
    }
    done
}

#[tokio::test]
async fn a_killed_server_loses_nothing_it_has_acknowledged() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let (_folder, db) = new_file();
    let tokens = seeded(&db, KILLS * WRITERS);
    let ids = query(&db, "SELECT group_concat(ulid_text(id)) FROM film");
    let films: Arc<Vec<String>> = Arc::new(ids.split(',').map(str::to_owned).collect());
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    for round in 0..KILLS {
        let server = Server::start(&db);
        let acknowledged = Arc::new(AtomicUsize::new(0));
        let tokens = &tokens[round * WRITERS..][..WRITERS];
        let writer = |token: &String| {
            let (address, films) = (server.address.clone(), Arc::clone(&films));
            tokio::spawn(write_until_killed(
                client.clone(),
                address,
                token.clone(),
                films,
                Arc::clone(&acknowledged),
            ))
        };
        let writers: Vec<_> = tokens.iter().map(writer).collect();
        let deadline = Instant::now() + Duration::from_secs(60);
        while acknowledged.load(Ordering::Relaxed) < 40 * (round + 1) {
            assert!(Instant::now() < deadline, "the server writes too little");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        server.kill();
        assert_eq!(query(&db, "PRAGMA integrity_check"), "ok");
        assert_eq!(
            query(&db, "SELECT count(*) FROM pragma_foreign_key_check"),
            "0"
        );
        for (writer, token) in writers.into_iter().zip(tokens) {
            let done = writer.await.unwrap();
            let hash = token
                .parse::<inorder_watch::secret::Secret>()
                .unwrap()
                .hash();
            let hash = inorder_watch::secret::hex(&hash);
            let sql = format!(
                "SELECT group_concat(ulid_text(film.id)) FROM api_token JOIN entry USING (user)
                 JOIN film ON film.number = entry.film WHERE api_token.hash = x'{hash}' AND note = 'acknowledged'"
            );
            let there = query(&db, &sql);
            let lost: Vec<_> = done
                .iter()
                .filter(|film| !there.contains(film.as_str()))
                .collect();
            assert!(
                !done.is_empty() && lost.is_empty(),
                "round {round} lost {lost:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_backup_is_whole_while_the_server_writes() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let (folder, db) = new_file();
    let tokens = seeded(&db, 2);
    let server = Server::start(&db);
    let ids = query(&db, "SELECT group_concat(ulid_text(id)) FROM film");
    let films: Vec<String> = ids.split(',').map(str::to_owned).collect();
    let is_over = Arc::new(AtomicBool::new(false));
    let (over, address, token) = (
        Arc::clone(&is_over),
        server.address.clone(),
        tokens[0].clone(),
    );
    let writer = tokio::spawn(async move {
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        for film in films
            .iter()
            .cycle()
            .take_while(|_| !over.load(Ordering::Relaxed))
        {
            let request = client
                .put(format!("{address}/api/v1/list/{film}"))
                .bearer_auth(&token);
            let answer = request
                .header("content-type", "application/json")
                .body("{}")
                .send()
                .await;
            assert_eq!(answer.unwrap().status(), 200);
        }
    });
    let copy = folder.path().join("copy.db");
    let (file, name) = (db.clone(), copy.to_str().unwrap().to_owned());
    let backup = tokio::task::spawn_blocking(move || run(&file, &["backup", &name], ""));
    let (worked, _, err) = backup.await.unwrap();
    assert!(worked, "{err}");
    is_over.store(true, Ordering::Relaxed);
    writer.await.unwrap();
    assert_eq!(query(&copy, "PRAGMA integrity_check"), "ok");
    assert_eq!(query(&copy, "SELECT count(*) FROM user"), "2");
    let (again, _, err) = run(&db, &["backup", copy.to_str().unwrap()], "");
    assert!(!again && err.contains("the file exists"), "{err}");
    assert!(server.stop(), "it ends well when it is told to");
    assert!(
        !db.with_extension("db-wal").exists(),
        "the last to close the file leaves no log"
    );
}

#[tokio::test]
async fn a_backup_is_restored_by_command_while_the_server_runs() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let (folder, db) = new_file();
    let tokens = seeded(&db, 2);
    let copy = folder.path().join("copy.db");
    let copy_name = copy.to_str().unwrap();
    run(&db, &["backup", copy_name], "");
    let count = "SELECT count(*) FROM entry";
    let server = Server::start(&db);
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let film = query(&db, "SELECT ulid_text(id) FROM film ORDER BY number DESC");
    let list = format!("{}/api/v1/list", server.address);
    let put = async || {
        let put = client.put(format!("{list}/{film}"));
        let put = put.bearer_auth(&tokens[0]);
        let put = put.header("content-type", "application/json").body("{}");
        put.send().await.unwrap().status()
    };
    assert_eq!(put().await, 200);
    let (worked, out, err) = run(&db, &["restore", copy_name], "");
    assert!(
        worked && out.is_empty() && err.contains("is restored"),
        "{err}"
    );
    assert_eq!(query(&db, count), query(&copy, count));
    // The server has the new content at once, in which the token has ended, and goes on writing.
    assert_eq!(put().await, 401);
    let (name, password) = (
        query(&db, "SELECT name FROM user"),
        "a long enough password",
    );
    let (worked, _, err) = run(&db, &["user", "add", "Cleo", "--password-stdin"], password);
    assert!(worked, "{err}");
    sign_in(&server.address, "127.0.0.1", "Cleo").await;
    assert!(server.stop());
    let (again, _, err) = run(&db, &["restore", db.to_str().unwrap()], "");
    assert!(!again && err.contains("is the database itself"), "{err}");
    let (again, _, err) = run(&db, &["restore", "no-such.db"], "");
    assert!(!again && err.contains("no-such.db"), "{err}");
    // A database that is lost is made anew.
    let other = folder.path().join("other.db");
    let (worked, _, err) = run(&other, &["restore", copy_name], "");
    assert!(worked, "{err}");
    assert_eq!(query(&other, "SELECT name FROM user"), name);
    // A refused restore leaves none.
    let (none, text) = (folder.path().join("none.db"), folder.path().join("text"));
    fs::write(&text, "no backup").unwrap();
    let (worked, _, err) = run(&none, &["restore", text.to_str().unwrap()], "");
    assert!(!worked && err.contains("text"), "{err}");
    let left = fs::read_dir(folder.path()).unwrap().flatten();
    let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
    let is_there = |name: &std::ffi::OsString| name.to_string_lossy().starts_with("none");
    assert!(!left.iter().any(is_there), "{left:?}");
}

#[test]
fn people_are_added_and_reset_from_the_command_line() {
    let (_folder, db) = new_file();
    let (worked, out, err) = run(
        &db,
        &["user", "add", "Anna", "--url", "https://watch.example/"],
        "",
    );
    assert!(
        worked
            && out.starts_with("https://watch.example/reset/")
            && err.contains("owns the server"),
        "{out} {err}"
    );
    assert_eq!(out.trim().len(), "https://watch.example/reset/".len() + 40);
    let (worked, out, err) = run(
        &db,
        &["user", "add", "Ben", "--password-stdin"],
        "a long enough password\n",
    );
    assert!(worked && out.is_empty(), "{err}");
    let (worked, _, err) = run(&db, &["user", "add", "Cleo", "--password-stdin"], "short\n");
    assert!(!worked && err.contains("at least 10 characters"), "{err}");
    let (worked, _, err) = run(&db, &["user", "add", "ANNA"], "");
    assert!(!worked && err.contains("take another one"), "{err}");
    let (worked, out, _) = run(&db, &["user", "reset", "anna"], "");
    assert!(worked && out.contains("/reset/"), "{out}");
    let (worked, _, err) = run(&db, &["user", "reset", "nobody"], "");
    assert!(!worked && err.contains("there is no user nobody"), "{err}");
    let (_, out, _) = run(&db, &["user", "list", "--json"], "");
    let names: Vec<serde_json::Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        (&names[0]["name"], &names[0]["owner"]),
        (&"Anna".into(), &true.into())
    );
    assert_eq!(names.len(), 2);
}

#[test]
fn a_full_stdout_is_an_error_and_a_closed_one_is_none() {
    let (_folder, db) = new_file();
    let (worked, _, err) = run(&db, &["user", "add", "Anna"], "");
    assert!(worked, "{err}");
    let list = |stdout: Stdio| {
        let mut command = Command::new(PROGRAM);
        command.args(["user", "list", "--db"]).arg(&db);
        let said = command.stdout(stdout).output().unwrap();
        let text = String::from_utf8(said.stderr).unwrap();
        (said.status.code(), text)
    };
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let (code, text) = list(full.into());
    assert!(code == Some(1) && text.contains("No space left"), "{text}");
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    assert_eq!(list(writer.into()), (Some(0), String::new()));
}

#[test]
fn commands_make_no_file_of_a_mistyped_name() {
    let (_folder, db) = new_file();
    for arguments in [
        &["user", "list"][..],
        &["user", "reset", "anna"],
        &["backup", "copy.db"],
    ] {
        let (worked, _, err) = run(&db, arguments, "");
        assert!(!worked && err.contains("there is no"), "{err}");
        assert!(!db.exists());
    }
}

#[test]
fn seeding_writes_the_same_lists_in_both_ways() {
    let (folder, db) = new_file();
    let baseline = folder.path().join("baseline.db");
    let arguments = [
        "seed",
        "--users",
        "50",
        "--movies",
        "20",
        "--films",
        "300",
        "--json",
        "--baseline",
        baseline.to_str().unwrap(),
    ];
    let (worked, out, err) = run(&db, &arguments, "");
    assert!(worked, "{err}");
    let lines: Vec<serde_json::Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines[0]["rows"], lines[1]["rows"]);
    assert!(lines[2]["times_faster"].as_f64().unwrap() > 0.0);
    let lists = "SELECT group_concat(line) FROM (SELECT name || title || priority AS line FROM";
    let ours = format!(
        "{lists} entry JOIN user ON user.number = user JOIN film ON film.number = film ORDER BY 1)"
    );
    let theirs = format!(
        "{lists} witch_watch JOIN witches ON witches.id = witch JOIN watches ON watches.id = watch ORDER BY 1)"
    );
    assert_eq!(query(&db, &ours), query(&baseline, &theirs));
    assert_eq!(
        query(&db, "SELECT count(*) FROM entry"),
        lines[0]["rows"].to_string()
    );
    let (again, _, err) = run(&db, &["seed"], "");
    assert!(!again && err.contains("has users"), "{err}");
}

#[test]
fn seeding_works_with_few_films_or_says_why_not() {
    let (_folder, db) = new_file();
    let seed = |arguments: &[&str]| {
        let (folder, db) = new_file();
        let credentials = db.with_extension("credentials");
        let fixed = ["seed", "--users", "5", "--credentials"];
        let all = [&fixed[..], &[credentials.to_str().unwrap()], arguments].concat();
        let (worked, _, err) = run(&db, &all, "");
        assert!(!err.contains("panicked"), "{arguments:?}: {err}");
        let counts = "SELECT group_concat(films, ' ') FROM (SELECT count(film) AS films FROM user LEFT JOIN entry ON user = number GROUP BY number)";
        let counts = worked.then(|| query(&db, counts));
        let lines = fs::read_to_string(&credentials).map_or(0, |text| text.lines().count());
        drop(folder);
        (counts, lines, err)
    };
    for (films, movies, expected) in [
        ("1", "100", "1 1 1 1 1"),
        ("1", "1", "1 1 1 1 1"),
        ("1", "0", "0 0 0 0 0"),
        ("3", "100", "3 3 3 3 3"),
        ("3", "19000", "3 3 3 3 3"),
    ] {
        let (counts, lines, err) = seed(&["--films", films, "--movies", movies]);
        assert_eq!(counts.as_deref(), Some(expected), "{films} {movies}: {err}");
        assert_eq!(lines, 5, "each user has a line");
        let is_told = err.contains(&format!("lists have at most the {films} film"));
        assert_eq!(is_told, films.len() < movies.len(), "{err}");
    }
    let (counts, _, err) = seed(&["--films", "0"]);
    assert!(
        counts.is_none() && err.contains("there are no films"),
        "{err}"
    );
    let (counts, _, err) = seed(&["--films", "3", "--movies", "18446744073709551615"]);
    assert!(counts.is_none() && err.contains("20000"), "{err}");
    // A file without films and lists, as an import of films finds it.
    let (worked, _, err) = run(&db, &["seed", "--films", "0", "--movies", "0"], "");
    assert!(worked, "{err}");
}

/// Signs somebody in from this address, as a browser without a script does.
async fn sign_in(server: &str, from: &str, name: &str) {
    let from: std::net::IpAddr = from.parse().unwrap();
    let client = reqwest::Client::builder().no_proxy().local_address(from);
    let client = client
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .unwrap();
    let address = format!("{server}/sign-in");
    let page = client.get(&address).send().await.unwrap();
    let cookie = page.headers()["set-cookie"]
        .to_str()
        .unwrap()
        .split(';')
        .next()
        .unwrap()
        .to_owned();
    let text = page.text().await.unwrap();
    let (_, token) = text.split_once("name=\"token\" value=\"").unwrap();
    let token = token.split('"').next().unwrap();
    let form = [
        ("token", token),
        ("name", name),
        ("password", "a long enough password"),
    ];
    let body = serde_urlencoded::to_string(form).unwrap();
    let sent = client
        .post(&address)
        .header("cookie", cookie)
        .header("content-type", "application/x-www-form-urlencoded");
    let answer = sent.body(body).send().await.unwrap();
    assert_eq!(answer.status(), 303, "{}", answer.text().await.unwrap());
}

#[tokio::test]
async fn signing_in_takes_no_more_memory_each_time() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let (_folder, db) = new_file();
    run(
        &db,
        &["user", "add", "Anna", "--password-stdin"],
        "a long enough password\n",
    );
    let server = Server::start(&db);
    let mut least = u64::MAX;
    for round in 0..12 {
        // An address has ten tries.
        let from = |i: usize| format!("127.0.1.{}", round * 5 + i + 1);
        let tries: Vec<_> = (0..5).map(|i| (server.address.clone(), from(i))).collect();
        let tries = tries
            .into_iter()
            .map(|(to, from)| tokio::spawn(async move { sign_in(&to, &from, "Anna").await }));
        for one in tries.collect::<Vec<_>>() {
            one.await.unwrap();
        }
        least = least.min(server.resident_bytes());
    }
    let megabytes = (server.resident_bytes() - least) >> 20;
    // One hash takes 19.
    assert!(megabytes < 19, "60 took {megabytes} MB more than 5");
}

fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn nobody_else_can_read_what_is_kept() {
    use std::os::unix::fs::PermissionsExt as _;
    let (folder, db) = new_file();
    let beside = |end: &str| folder.path().join(format!("watch.db{end}"));
    seeded(&db, 2);
    let server = Server::start(&db);
    let there = [
        beside(""),
        beside("-wal"),
        beside("-shm"),
        db.with_extension("credentials"),
    ];
    let modes = there.each_ref().map(|path| mode(path));
    assert_eq!(modes, [0o600; 4]);
    let copy = folder.path().join("copy.db");
    let (worked, _, err) = run(&db, &["backup", copy.to_str().unwrap()], "");
    assert!(worked && mode(&copy) == 0o600, "{err}");
    server.kill();
    // Access that an older version left open is removed.
    for path in [&there[0], &there[1], &there[2]] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o644)).unwrap();
    }
    let _server = Server::start(&db);
    let modes = there.each_ref().map(|path| mode(path));
    assert_eq!(modes, [0o600; 4]);
}

#[test]
fn a_reset_from_the_command_line_ends_what_was_opened() {
    let (_folder, db) = new_file();
    let tokens = seeded(&db, 1);
    assert_eq!(tokens.len(), 1);
    let counts = "SELECT (SELECT count(*) FROM session) || ' ' || (SELECT count(*) FROM api_token) || ' ' || (SELECT count(password) FROM user)";
    let name = query(&db, "SELECT name FROM user");
    assert_eq!(query(&db, counts), "1 1 0");
    let (worked, _, err) = run(&db, &["user", "reset", &name], "");
    assert!(worked, "{err}");
    assert_eq!(query(&db, counts), "0 0 0");
}
