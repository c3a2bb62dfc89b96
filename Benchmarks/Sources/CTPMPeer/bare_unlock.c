#include "bare_unlock.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { STATEMENTS = 5 };

struct bare_unlock {
  int socket;
  uint32_t loaded;
  sqlite3 *database;
  sqlite3_stmt *statements[STATEMENTS];
};

bare_unlock *bare_unlock_open(const char *socket_path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(socket_path) >= sizeof address.sun_path) return NULL;
  strcpy(address.sun_path, socket_path);
  bare_unlock *bare = calloc(1, sizeof *bare);
  if (bare == NULL) return NULL;
  bare->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bare->socket < 0 || connect(bare->socket, (struct sockaddr *)&address, sizeof address) != 0) {
    bare_unlock_close(bare);
    return NULL;
  }
  return bare;
}

int bare_unlock_use_database(bare_unlock *bare, const char *path) {
  static const char *const sql[STATEMENTS] = {
      "BEGIN IMMEDIATE",
      "UPDATE slot SET failed = ?1 WHERE kind = 2",
      "UPDATE part SET digest = CAST(substr(printf('%032d', ?1), 1, 32) AS BLOB) WHERE name = ''",
      "UPDATE generation SET number = ?1",
      "COMMIT",
  };
  if (sqlite3_open_v2(path, &bare->database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK) return 0;
  const char *const settings = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON";
  if (sqlite3_exec(bare->database, settings, NULL, NULL, NULL) != SQLITE_OK) return 0;
  for (int index = 0; index < STATEMENTS; index++) {
    if (sqlite3_prepare_v2(bare->database, sql[index], -1, &bare->statements[index], NULL) != SQLITE_OK) return 0;
  }
  return 1;
}

void bare_unlock_close(bare_unlock *bare) {
  for (int index = 0; index < STATEMENTS; index++) sqlite3_finalize(bare->statements[index]);
  sqlite3_close(bare->database);
  if (bare->socket >= 0) close(bare->socket);
  free(bare);
}

static uint32_t number(const uint8_t *bytes) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

size_t bare_unlock_exchange(bare_unlock *bare, const uint8_t *command, size_t size, uint8_t *answer, size_t room) {
  if (send(bare->socket, command, size, MSG_NOSIGNAL) != (ssize_t)size) return 0;
  size_t got = 0;
  do {
    const ssize_t count = recv(bare->socket, answer + got, room - got, 0);
    if (count <= 0) return 0;
    got += (size_t)count;
  } while (got < 10 || (got < number(answer + 2) && got < room));
  return got;
}

uint32_t bare_unlock_run(bare_unlock *bare, const uint8_t *command, size_t size) {
  const uint32_t loaded_object = 0x80FFFFFF, load = 0x157, retry = 0x922, broken = 0xFFFFFFFF;
  uint8_t bytes[1024], answer[4096];
  if (size < 10 || size > sizeof bytes) return broken;
  memcpy(bytes, command, size);
  if (size >= 14 && number(bytes + 10) == loaded_object) {
    for (int index = 0; index < 4; index++) bytes[10 + index] = (uint8_t)(bare->loaded >> (24 - 8 * index));
  }
  uint32_t code;
  do {
    const size_t count = bare_unlock_exchange(bare, bytes, size, answer, sizeof answer);
    if (count < 10) return broken;
    code = number(answer + 6);
    if (number(bytes + 6) == load && count >= 14) bare->loaded = number(answer + 10);
  } while (code == retry);
  return code;
}

int bare_unlock_commit(bare_unlock *bare, int64_t value) {
  for (int index = 0; index < STATEMENTS; index++) {
    sqlite3_stmt *statement = bare->statements[index];
    if (sqlite3_bind_parameter_count(statement) == 1) sqlite3_bind_int64(statement, 1, value);
    const int code = sqlite3_step(statement);
    sqlite3_reset(statement);
    if (code != SQLITE_DONE) return 0;
  }
  return 1;
}
