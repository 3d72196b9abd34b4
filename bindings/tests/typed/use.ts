// A user's program, for `tsc`. What follows a line with `@ts-expect-error` must be refused.
import { DatabaseSync } from "node:sqlite";
import Database from "better-sqlite3";
import { load, path } from "inorder";
import { token, tsid, tsidText, typeid, ulid, uuid7 } from "inorder/ids";

const notes: Database.Database = load(new Database("notes.db"));
const files: DatabaseSync = load(new DatabaseSync("files.db", { allowExtension: true }));
notes.prepare("INSERT INTO note VALUES (?, ?)").run(ulid(), "first");
files.prepare("INSERT INTO file VALUES (?)").run(uuid7());

const key: string = typeid("user");
const number: bigint = tsid(3);
const texts: string[] = [tsidText(number), token(), token(32), path];

// @ts-expect-error
const wrongResult: number = tsid();
// @ts-expect-error
typeid(7);
// @ts-expect-error
tsidText(7);
// @ts-expect-error
load("notes.db");
// @ts-expect-error
import { nanoid } from "inorder/ids";

export { key, nanoid, texts, wrongResult };
