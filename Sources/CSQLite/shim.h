#pragma once

#include <sqlite3.h>

// What Swift cannot import: the destructor constant `SQLITE_TRANSIENT` is a cast, `sqlite3_db_config` is variadic.

/// `sqlite3_bind_blob64` with `SQLITE_TRANSIENT`: SQLite copies the bytes before it returns.
static inline int signet_sqlite3_bind_blob(
    sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
  return sqlite3_bind_blob64(statement, index, bytes, count, SQLITE_TRANSIENT);
}

/// `sqlite3_bind_text64` with `SQLITE_TRANSIENT` and `SQLITE_UTF8`; text without an address is empty, not NULL.
static inline int signet_sqlite3_bind_text(
    sqlite3_stmt *statement, int index, const char *text, sqlite3_uint64 count) {
  return sqlite3_bind_text64(
      statement, index, text ? text : "", count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

/// `sqlite3_db_config` for the options that take a switch: turns `option` on or off.
static inline int signet_sqlite3_configure(sqlite3 *database, int option, int on) {
  return sqlite3_db_config(database, option, on, (int *)0);
}
