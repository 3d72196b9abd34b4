//! Files are shortened: their last pages move into free ones, and SQLite finds the same content.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use inorder_btree::{Error, FreeList, Moves, PageMap, Reader, Sizes};
use rusqlite::Connection;

/// Tables with and without overflow pages, of which some rows or all are deleted.
const SQL: &str = "CREATE TABLE gone(a, b); CREATE INDEX gone_b ON gone(b);
    CREATE TABLE small(a INTEGER PRIMARY KEY, b UNIQUE);
    CREATE TABLE long(k TEXT PRIMARY KEY, body) WITHOUT ROWID; CREATE TABLE blobs(body);
    CREATE INDEX blobs_body ON blobs(body);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
      INSERT INTO gone SELECT i, hex(randomblob(40)) FROM n;
    INSERT INTO small SELECT a, b || 'x' FROM gone; INSERT INTO long SELECT b, hex(randomblob(a % 900)) FROM gone WHERE a < 900;
    INSERT INTO blobs SELECT randomblob(a * 37 % 20011) FROM gone WHERE a < 300;";

const CONTENT: &str = "SELECT coalesce((SELECT group_concat(quote(a) || b) FROM small), '') ||
    coalesce((SELECT group_concat(k || body) FROM long), '') || coalesce((SELECT group_concat(hex(body)) FROM blobs), '')";

fn text(path: &Path, sql: &str) -> String {
    let database = Connection::open(path).expect("opened");
    database.query_row(sql, [], |row| row.get(0)).expect(sql)
}

fn reader(path: &Path) -> Reader {
    Reader::new(File::open(path).expect("opened")).expect("a header")
}

fn mapped(path: &Path) -> Result<PageMap, Error> {
    let database = Connection::open(path).expect("opened");
    let roots = "SELECT 1 UNION ALL SELECT rootpage FROM sqlite_schema WHERE rootpage > 0";
    let mut roots = database.prepare(roots).expect("prepared");
    let roots = roots.query_map([], |row| row.get(0)).expect("read");
    let roots: Vec<u32> = roots.map(|root| root.expect("a number")).collect();
    let mut reader = reader(path);
    let sizes = Sizes::of(reader.page(1).expect("read")).expect("sizes");
    PageMap::read(&mut reader, sizes.pages, &roots, sizes.free_list)
}

/// Shortens a file as far as possible and returns its pages afterwards.
fn shorten(path: &Path, content: &str) -> u32 {
    let map = mapped(path).expect("each page has one use");
    let mut reader = reader(path);
    let (page_bytes, usable_bytes) = (reader.page_bytes(), reader.usable_bytes());
    let moves = Moves::new(&map, page_bytes);
    let open = || {
        File::options()
            .read(true)
            .write(true)
            .open(path)
            .expect("opened")
    };
    let (direct, cached) = (open(), open());
    let others = moves.make(&mut reader, &map, &direct, &cached, || Ok(()));
    let others = others.expect("moved");
    // Nothing that SQLite reads is overwritten before the transaction.
    assert_eq!(text(path, "PRAGMA integrity_check"), "ok");
    assert!(text(path, CONTENT) == content);
    let mut first = reader.page(1).expect("read").to_vec();
    let write = |number: u32, page: &[u8]| {
        let offset = u64::from(number - 1) * u64::from(page_bytes);
        cached.write_all_at(page, offset).expect("written");
    };
    for (number, page) in others {
        match number {
            1 => first = page,
            number => write(number, &page),
        }
    }
    let free = FreeList::new(moves.free(), page_bytes as usize, usable_bytes, (0, 0));
    for (number, page) in &free.trunks {
        write(*number, page);
    }
    free.enter(&mut first, moves.pages());
    write(1, &first);
    let bytes = u64::from(moves.pages()) * u64::from(page_bytes);
    cached.set_len(bytes).expect("cut");
    moves.pages()
}

#[test]
fn a_file_without_free_pages_has_the_same_content() {
    for page_bytes in [512, 1024, 4096, 65536] {
        for deleted in [
            "DROP TABLE gone",
            "DROP TABLE gone; DELETE FROM small WHERE a % 9 > 0; DELETE FROM blobs WHERE rowid % 3 = 0",
            "DROP TABLE gone; DELETE FROM long; DELETE FROM blobs WHERE rowid < 290",
            "DELETE FROM blobs",
        ] {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("file.db");
            let database = Connection::open(&path).expect("a database");
            let made = format!("PRAGMA page_size = {page_bytes}; {SQL} {deleted};");
            database.execute_batch(&made).expect("made");
            drop(database);
            let free: u32 = text(
                &path,
                "SELECT freelist_count || '' FROM pragma_freelist_count",
            )
            .parse()
            .expect("a number");
            let before: u32 = text(&path, "SELECT page_count || '' FROM pragma_page_count")
                .parse()
                .expect("a number");
            assert!(free > 0, "{page_bytes}, {deleted}");
            let content = text(&path, CONTENT);
            // Roots stay: the file may have to end behind one.
            let after = shorten(&path, &content);
            let left: u32 = text(
                &path,
                "SELECT freelist_count || '' FROM pragma_freelist_count",
            )
            .parse()
            .expect("a number");
            assert_eq!(before - free, after - left, "{page_bytes}, {deleted}");
            assert!(after < before, "{page_bytes}, {deleted}");
            assert_eq!(text(&path, "PRAGMA integrity_check"), "ok");
            assert!(text(&path, CONTENT) == content, "{page_bytes}, {deleted}");
        }
    }
}

#[test]
fn a_page_without_a_use_or_with_two_is_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("file.db");
    let database = Connection::open(&path).expect("a database");
    database
        .execute_batch(&format!("{SQL} DROP TABLE gone;"))
        .expect("made");
    drop(database);
    mapped(&path).expect("each page has one use");
    let file = File::options()
        .read(true)
        .write(true)
        .open(&path)
        .expect("opened");
    let mut head = [0; 8];
    file.read_exact_at(&mut head, 32).expect("read");
    // Without its freelist, the file has pages that nothing refers to.
    file.write_all_at(&[0; 8], 32).expect("written");
    assert!(matches!(mapped(&path), Err(Error::Malformed { .. })));
    file.write_all_at(&head, 32).expect("written");
    mapped(&path).expect("it is back");
    // A freelist that begins with a root has a page that is used twice.
    file.write_all_at(&[0, 0, 0, 2], 32).expect("written");
    assert!(matches!(mapped(&path), Err(Error::Malformed { .. })));
}
