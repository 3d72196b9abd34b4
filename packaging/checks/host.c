/* A program with SQLite that loads an extension, makes keys and reads them back: for systems without a Python to run. */
#include <stdio.h>
#include <string.h>
#include "sqlite3.h"

static sqlite3 *database;

static int check(const char *sql, const char *wanted) {
  sqlite3_stmt *statement;
  if (sqlite3_prepare_v2(database, sql, -1, &statement, 0) != SQLITE_OK || sqlite3_step(statement) != SQLITE_ROW) {
    printf("%s: %s\n", sql, sqlite3_errmsg(database));
    return 1;
  }
  const char *text = (const char *)sqlite3_column_text(statement, 0);
  int failed = strcmp(text, wanted) != 0;
  if (failed) printf("%s: %s instead of %s\n", sql, text, wanted);
  sqlite3_finalize(statement);
  return failed;
}

int main(int count, char **arguments) {
  char *problem = 0;
  if (count != 3) return 2;
  sqlite3_open(":memory:", &database);
  sqlite3_enable_load_extension(database, 1);
  if (sqlite3_load_extension(database, arguments[1], "sqlite3_extension_init", &problem) != SQLITE_OK) {
    printf("%s\n", problem);
    return 1;
  }
  int failed = check("SELECT inorder_version()", arguments[2]);
  sqlite3_exec(database, "CREATE TABLE note(id BLOB PRIMARY KEY DEFAULT (ulid()), n) WITHOUT ROWID;"
                         "INSERT INTO note(n) SELECT rowid FROM keys('ulid', 100000)", 0, 0, &problem);
  if (problem) {
    printf("%s\n", problem);
    return 1;
  }
  failed |= check("SELECT sum(n = place) FROM (SELECT n, row_number() OVER (ORDER BY id) AS place FROM note)", "100000");
  failed |= check("SELECT uuid_text(ulid_to_uuid('01ARZ3NDEKTSV4RRFFQ69G5FAV'))", "01563e3a-b5d3-d676-4c61-efb99302bd5b");
  failed |= sqlite3_exec(database, "SELECT ulid_min('1969-12-31')", 0, 0, &problem) == SQLITE_OK;
  return failed;
}
