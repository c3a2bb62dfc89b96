// A load generator that costs little CPU next to the server it loads: one blocking thread a connection, TLS 1.2 or
// newer through OpenSSL, HTTP/1.1 with keep-alive.
#pragma once
#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/// What a run took.
struct load_cost {
  /// From the first request to the last answer, without the handshakes, in nanoseconds.
  uint64_t elapsed;
  /// CPU time of all threads of the generator, in nanoseconds.
  uint64_t cpu;
};

/// Sends each of `count` complete HTTP/1.1 requests once, in order, over some connections to `port` on 127.0.0.1.
///
/// The body of every answer must contain `expected`. `latencies` gets, for each request, the time from its first byte
/// sent to the last byte of its answer, in nanoseconds. Returns 0, or the line of the source where something failed.
int load_client_run(uint16_t port, int32_t connections, const char *_Nonnull const *_Nonnull requests, size_t count,
                    const char *expected, uint64_t *latencies, struct load_cost *cost);

#pragma clang assume_nonnull end
