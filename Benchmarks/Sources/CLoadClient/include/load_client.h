// A load generator that costs little CPU next to the server it loads: one thread for all connections, TLS 1.2 or newer
// through OpenSSL, HTTP/1.1 with keep-alive.
#pragma once
#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/// What a run took.
struct load_cost {
  /// From the first request to the last answer, in nanoseconds.
  uint64_t elapsed;
  /// CPU time of the generator, in nanoseconds.
  uint64_t cpu;
};

struct load_client;

/// Opens connections to `port` on 127.0.0.1, with their handshakes; NULL where one fails.
struct load_client *_Nullable load_client_open(uint16_t port, int32_t connections);

/// Sends each of `count` complete HTTP/1.1 requests once, in order, over all connections.
///
/// The body of every answer must contain `expected`. `latencies` gets, for each request, the time from its first byte
/// sent to the last byte of its answer, in nanoseconds. Returns 0, or the line of the source where something failed.
int load_client_run(struct load_client *client, const char *_Nonnull const *_Nonnull requests, size_t count,
                    const char *expected, uint64_t *latencies, struct load_cost *cost);

/// Closes the connections.
void load_client_close(struct load_client *client);

#pragma clang assume_nonnull end
