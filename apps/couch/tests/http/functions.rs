//! Functions of design documents that answer requests.

use crate::client::Running;
use serde_json::{Value, json};

async fn server() -> Running {
    let server = Running::start().await;
    let design = json!({
        "_id": "_design/d",
        "shows": {
            "title": "function (doc, req) { return {body: (doc ? doc.title : 'none') + ' ' + req.query.q, headers: {'X-A': 'b'}}; }",
            "request": "function (doc, req) { return {json: req, code: 202}; }",
            "provided": "function (doc, req) { provides('html', function () { return '<b>'; }); provides('json', function () { return '{\"a\":1}'; }); }",
            "missing": "function (doc) { throw ['error', 'not_found', 'nope']; }",
            "broken": "function (doc) { return doc.x.y; }",
        },
        "updates": {
            "count": "function (doc, req) { if (!doc) return [{_id: req.id || 'made', n: 1}, 'made']; doc.n++; return [doc, {json: {n: doc.n}}]; }",
            "nothing": "function () { return [null, 'nothing']; }",
        },
        "lists": {
            "csv": "function (head, req) { start({headers: {'Content-Type': 'text/csv'}}); send(head.total_rows + ':'); var row; while (row = getRow()) send(row.id + ','); return 'end'; }",
        },
        "filters": { "agent": "function (doc, req) { return req.headers['User-Agent'] === req.query.agent && !req.headers.Authorization; }" },
        "rewrites": [
            {"from": "/show/:x", "to": "_show/title/:x", "query": {"q": ":x"}},
            {"from": "/all", "to": "../../_all_docs", "query": {"limit": "1"}},
            {"from": "/out/*", "to": "../../*"},
            {"from": "/again", "to": "_rewrite/again"},
        ],
    });
    let docs = json!([design, {"_id": "a", "title": "Alien", "n": 1}, {"_id": "b"}]);
    server.database("db", &docs).await;
    server
}

#[tokio::test]
async fn a_show_function_answers_with_its_headers_and_a_tag() {
    let server = server().await;
    let shown = server.get("/db/_design/d/_show/title/a?q=1").await;
    assert_eq!((shown.status.as_u16(), shown.text()), (200, "Alien 1"));
    assert_eq!((shown.header("x-a"), shown.header("vary")), ("b", "Accept"));
    let again = server.ask("GET", "/db/_design/d/_show/title/a?q=1");
    let again = again.header("if-none-match", shown.header("etag"));
    assert_eq!(again.send().await.status, 304);
    assert_eq!(
        server.get("/db/_design/d/_show/title?q=2").await.text(),
        "none 2"
    );
    for (path, status, error) in [
        ("missing", 404, "not_found"),
        ("broken", 500, "render_error"),
        ("broken/none", 404, "not_found"),
        ("unknown", 404, "not_found"),
    ] {
        let refused = server.get(&format!("/db/_design/d/_show/{path}")).await;
        assert_eq!(refused.error(), (status, error.to_owned()), "{path}");
    }
}

#[tokio::test]
async fn what_validation_and_filter_functions_throw_is_named() {
    let server = Running::start().await;
    let throw = "switch (doc.throw) {
        case 'object': throw({foo: 'why'});
        case 'text': throw 'why';
        case 'type': doc.a.b;
        case 'list': throw ['error', 'conflict', 'why'];
    } return true; }";
    let design = json!({
        "_id": "_design/d",
        "validate_doc_update": format!("function (doc) {{ {throw}"),
        "filters": { "f": format!("function (doc) {{ doc.throw = doc.filter; {throw}") },
    });
    server.database("db", &json!([design])).await;
    for (kind, status, error, filtered) in [
        ("object", 500, "unknown_error", (500, "unnamed_error")),
        ("text", 500, "unknown_error", (500, "unnamed_error")),
        ("type", 500, "TypeError", (500, "TypeError")),
        ("list", 409, "conflict", (409, "conflict")),
    ] {
        let refused = server.put("/db/a", &json!({ "throw": kind })).await;
        assert_eq!(refused.error(), (status, error.to_owned()), "{kind}");
        let reason = refused.json()["reason"].clone();
        if kind == "type" {
            assert!(
                reason.as_str().is_some_and(|it| it.contains("undefined")),
                "{reason}"
            );
        } else {
            assert_eq!(reason, "why");
        }
        let written = server
            .put(&format!("/db/{kind}"), &json!({ "filter": kind }))
            .await;
        assert_eq!(written.status, 201, "{}", written.text());
        let path = format!("/db/_changes?filter=d/f&doc_ids=%5B%22{kind}%22%5D");
        let found = server.get(&path).await;
        assert_eq!(found.error(), (filtered.0, filtered.1.to_owned()), "{kind}");
        let rev = written.json()["rev"].as_str().unwrap().to_owned();
        server.delete(&format!("/db/{kind}?rev={rev}")).await;
    }
}

#[tokio::test]
async fn a_show_function_sees_the_request_without_credentials() {
    let server = server().await;
    let asked = server.ask("POST", "/db/_design/d/_show/request/x/y?key=1");
    let asked = asked
        .header("cookie", "AuthSession=x")
        .header("x-custom-name", "z");
    let shown = asked
        .body("application/x-www-form-urlencoded", "a=1&b=+2")
        .send()
        .await;
    assert_eq!(shown.status, 202);
    let request = shown.json();
    assert_eq!(request["id"], "x/y");
    assert_eq!(request["query"], json!({"key": 1}));
    assert_eq!(request["form"], json!({"a": "1", "b": " 2"}));
    assert_eq!(request["headers"]["X-Custom-Name"], "z");
    assert_eq!(
        (&request["headers"]["Cookie"], &request["cookie"]),
        (&Value::Null, &json!({}))
    );
    assert_eq!(request["path"][3], "_show");
    assert_eq!(request["userCtx"]["db"], "db");
}

#[tokio::test]
async fn a_show_function_provides_what_the_client_accepts() {
    let server = server().await;
    let of = |accept: &'static str| {
        let asked = server.ask("GET", "/db/_design/d/_show/provided");
        asked.header("accept", accept).send()
    };
    let json = of("application/json").await;
    assert_eq!(
        (json.header("content-type"), json.json()),
        ("application/json", json!({"a": 1}))
    );
    let html = of("text/html, */*;q=0.1").await;
    assert_eq!(
        (html.header("content-type"), html.text()),
        ("text/html; charset=utf-8", "<b>")
    );
    assert_eq!(
        of("image/png").await.error(),
        (406, "not_acceptable".to_owned())
    );
}

#[tokio::test]
async fn an_update_function_writes_a_document() {
    let server = server().await;
    let update = |path: &str| {
        server
            .ask("POST", &format!("/db/_design/d/_update/{path}"))
            .send()
    };
    let made = update("count").await;
    assert_eq!((made.status.as_u16(), made.text()), (201, "made"));
    assert!(made.header("x-couch-update-newrev").starts_with("1-"));
    let counted = update("count/a").await;
    assert_eq!(counted.json(), json!({"n": 2}));
    assert_eq!(server.get("/db/a").await.json()["n"], 2);
    let nothing = update("nothing").await;
    assert_eq!((nothing.status.as_u16(), nothing.text()), (200, "nothing"));
    let read = server.get("/db/_design/d/_update/count").await;
    assert_eq!(read.error(), (405, "method_not_allowed".to_owned()));
}

#[tokio::test]
async fn a_list_function_gets_the_rows_of_all_documents() {
    let server = server().await;
    let listed = server
        .get("/db/_design/d/_list/csv/_all_docs?startkey=%22a%22")
        .await;
    assert_eq!(
        (listed.header("content-type"), listed.text()),
        ("text/csv", "3:a,b,end")
    );
    let keys = json!({"keys": ["b"]});
    let posted = server
        .post("/db/_design/d/_list/csv/_all_docs", &keys)
        .await;
    assert_eq!(posted.text(), "3:b,end");
    let refused = server.get("/db/_design/d/_list/csv").await;
    assert_eq!(refused.error(), (404, "list_error".to_owned()));
}

#[tokio::test]
async fn headers_of_start_are_sent_and_may_come_after_the_first_row() {
    let server = server().await;
    let design = json!({
        "shows": { "started": "function () { start({'X-A': 'b'}); send('sent'); }" },
        "lists": { "late": "function () { getRow(); start({code: 400, headers: {'X-A': 'b'}}); send('late'); }" },
    });
    server.put("/db/_design/s", &design).await;
    let shown = server.get("/db/_design/s/_show/started").await;
    assert_eq!((shown.header("x-a"), shown.text()), ("b", "sent"));
    let listed = server.get("/db/_design/s/_list/late/_all_docs").await;
    assert_eq!(
        (listed.status.as_u16(), listed.header("x-a"), listed.text()),
        (400, "b", "late")
    );
    for kind in ["show", "update"] {
        let nameless = server
            .ask("POST", &format!("/db/_design/s/_{kind}/"))
            .send()
            .await;
        assert_eq!(nameless.error(), (404, format!("{kind}_error")));
    }
}

#[tokio::test]
async fn a_list_function_gets_the_rows_of_a_view() {
    let server = server().await;
    let map = "function (doc) { emit(doc._id, 1) }";
    let views = json!({ "views": {
        "ids": { "map": map },
        "sum": { "map": map, "reduce": "_sum" },
    }});
    server.put("/db/_design/v", &views).await;
    let show = "function (head, req) { var row, all = []; while (row = getRow()) all.push(row); return toJSON([head, all]) }";
    let lists = json!({ "lists": { "rows": show }, "views": { "own": { "map": map } } });
    server.put("/db/_design/l", &lists).await;
    for (path, expected) in [
        (
            "rows/v/ids?limit=1&skip=1",
            json!([{"total_rows": 2, "offset": 1}, [{"id": "b", "key": "b", "value": 1}]]),
        ),
        (
            "rows/own?key=%22a%22",
            json!([{"total_rows": 2, "offset": 0}, [{"id": "a", "key": "a", "value": 1}]]),
        ),
        (
            "rows/v/ids?startkey=%22x%22",
            json!([{"total_rows": 2, "offset": 2}, []]),
        ),
        ("rows/v/sum", json!([{}, [{"key": null, "value": 2}]])),
    ] {
        let listed = server.get(&format!("/db/_design/l/_list/{path}")).await;
        assert_eq!(listed.status, 200, "{path}: {}", listed.text());
        assert_eq!(listed.json(), expected, "{path}");
    }
    let keys = json!({"keys": ["b"]});
    let posted = server.post("/db/_design/l/_list/rows/v/ids", &keys).await;
    assert_eq!(posted.json()[1][0]["id"], "b");
    let missing = server.get("/db/_design/l/_list/rows/v/none").await;
    assert_eq!(missing.error(), (404, "not_found".to_owned()));
    let wrong = server.get("/db/_design/l/_list/rows/v/ids?limit=x").await;
    assert_eq!(wrong.error(), (400, "query_parse_error".to_owned()));
}

#[tokio::test]
async fn rewritten_requests_reach_other_paths_of_the_server() {
    let server = server().await;
    let of = |path: &str| {
        server
            .ask("GET", &format!("/db/_design/d/_rewrite/{path}"))
            .send()
    };
    assert_eq!(of("show/a").await.text(), "Alien a");
    assert_eq!(of("all").await.json()["rows"].as_array().unwrap().len(), 1);
    assert_eq!(of("out/a").await.json()["_id"], "a");
    assert_eq!(of("none").await.status, 404);
    assert_eq!(of("again").await.error(), (400, "bad_request".to_owned()));
}

#[tokio::test]
async fn a_filter_sees_the_headers_of_its_request() {
    let server = server().await;
    let count = |agent: &'static str| {
        let path = format!("/db/_changes?filter=d/agent&agent={agent}");
        server.ask("GET", &path).header("user-agent", "me").send()
    };
    assert_eq!(
        count("me").await.json()["results"]
            .as_array()
            .unwrap()
            .len(),
        3
    );
    assert_eq!(count("you").await.json()["results"], json!([]));
}

#[tokio::test]
async fn no_function_leaves_the_sandbox() {
    let server = Running::start().await;
    let headers =
        "{'Content-Security-Policy': 'script-src *', 'Set-Cookie': 'AuthSession=x', 'X-A': 'b'}";
    let answer = format!("{{body: '<p>', headers: {headers}}}");
    let design = json!({
        "_id": "_design/d",
        "shows": { "f": format!("function () {{ return {answer}; }}") },
        "updates": { "f": format!("function () {{ return [null, {answer}]; }}") },
        "lists": { "f": format!("function () {{ start({{headers: {headers}}}); return ''; }}") },
        "rewrites": format!("function () {{ var a = {answer}; a.code = 200; return a; }}"),
    });
    server.database("db", &json!([design])).await;
    for (method, path) in [
        ("GET", "_show/f"),
        ("POST", "_update/f"),
        ("GET", "_list/f/_all_docs"),
        ("GET", "_rewrite/f"),
    ] {
        let answer = server.ask(method, &format!("/db/_design/d/{path}"));
        let answer = answer.send().await;
        assert_eq!((answer.status.as_u16(), answer.header("x-a")), (200, "b"));
        let policies = answer.headers.get_all("content-security-policy");
        let policies: Vec<_> = policies.iter().collect();
        assert_eq!(policies, ["sandbox"], "{path}");
        assert_eq!(answer.header("set-cookie"), "", "{path}");
    }
}

#[tokio::test]
async fn a_function_that_leaves_the_database_is_refused() {
    let server = Running::start().await;
    let design = json!({
        "_id": "_design/d",
        "rewrites": "function (req) { return {path: req.query.to, method: req.query.method, query: {}}; }",
    });
    server.database("db", &json!([design])).await;
    server.database("victim", &json!([])).await;
    let of = async |to: &str, method: &str| {
        let path = format!("/db/_design/d/_rewrite/x?to={to}&method={method}");
        server.get(&path).await
    };
    for to in ["../../../victim", "/a/../../../../victim", "../../../db"] {
        let refused = of(to, "DELETE").await;
        let expected = (500, "insecure_rewrite_rule".to_owned());
        assert_eq!(refused.error(), expected, "{to}");
    }
    let path = "/db/_design/d/_rewrite/x?to=../../../victim";
    assert_eq!(server.post(path, &json!({})).await.status, 500);
    assert_eq!(server.get("/victim").await.json()["doc_count"], 0);
    // CouchDB's suite reads outside of the database.
    for path in ["../../../_uuids", "../../../victim"] {
        assert_eq!(of(path, "GET").await.status, 200, "{path}");
    }
    for to in ["../../_all_docs", "a/../../../_all_docs", "../.."] {
        assert_eq!(of(to, "GET").await.status, 200, "{to}");
    }
    let path = "/_node/_local/_config/chttpd/secure_rewrites";
    assert_eq!(server.put(path, &json!("false")).await.status, 200);
    assert_eq!(of("../../../victim", "GET").await.status, 200);
}
