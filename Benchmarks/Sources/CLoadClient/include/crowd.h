// Thousands of keep-alive connections on one thread, each of which waits for the answer to one request: TLS 1.2 or newer
// through OpenSSL, HTTP/1.1.
#pragma once
#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

struct crowd;

/// A whole answer; the bytes are there until the next call of `crowd_next`.
struct crowd_answer {
  int32_t index;
  int32_t status;
  const char *_Nullable tag;
  size_t tag_size;
  const char *_Nullable body;
  size_t body_size;
};

/// Nobody yet, at most `limit`, towards `port` on 127.0.0.1; NULL where there is no memory.
struct crowd *_Nullable crowd_new(uint16_t port, int32_t limit);

/// Connects from 127.`source`, 24 bits, with the handshake; the index of the connection, or -1.
int32_t crowd_join(struct crowd *crowd, uint32_t source);

/// Sends a complete request on a connection that waits for no answer; 0 where that fails.
int crowd_send(struct crowd *crowd, int32_t index, const char *request);

/// Waits for the next whole answer on any connection: 1, 0 when the time is over, or minus the line of the source where
/// something failed.
int crowd_next(struct crowd *crowd, int32_t milliseconds, struct crowd_answer *answer);

/// Closes all connections.
void crowd_close(struct crowd *crowd);

#pragma clang assume_nonnull end
