#pragma once

#include <stddef.h>
#include <stdint.h>

// What nothing that unlocks with a limit of guesses can do without: bytes to a TPM over a socket, with nothing encrypted,
// authenticated or looked at but the response code, and durable commits of rows of a vault's database, with nothing read.
typedef struct bare_unlock bare_unlock;

// Connects to the swtpm at a Unix socket; NULL if that fails.
bare_unlock *bare_unlock_open(const char *socket_path);

// Takes the database of a vault, whose slots are worth nothing afterwards; 0 if that fails.
int bare_unlock_use_database(bare_unlock *bare, const char *path);

void bare_unlock_close(bare_unlock *bare);

// Sends a command, and stores the answer; 0, or how long the answer is.
size_t bare_unlock_exchange(bare_unlock *bare, const uint8_t *command, size_t size, uint8_t *answer, size_t room);

// Sends a command, and returns the response code. Where its first handle is 0x80FFFFFF, that of the last object that was loaded
// is sent.
uint32_t bare_unlock_run(bare_unlock *bare, const uint8_t *command, size_t size);

// Writes the three rows that counting an attempt writes, durably; 0 if that fails.
int bare_unlock_commit(bare_unlock *bare, int64_t value);
