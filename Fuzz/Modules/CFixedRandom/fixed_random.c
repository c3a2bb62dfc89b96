// The way through a provider would need a library of its own; this one is deprecated, and kept in all of OpenSSL 3.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "fixed_random.h"

#include <openssl/rand.h>
#include <stdatomic.h>

static _Atomic uint64_t state;

// SplitMix64: every seed gives another sequence, and none is short.
static uint64_t next(void) {
  uint64_t value = atomic_fetch_add(&state, 0x9E3779B97F4A7C15) + 0x9E3779B97F4A7C15;
  value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9;
  value = (value ^ value >> 27) * 0x94D049BB133111EB;
  return value ^ value >> 31;
}

static int fill(unsigned char *bytes, int count) {
  uint64_t word = 0;
  for (int index = 0; index < count; index++) {
    if (index % 8 == 0) word = next();
    bytes[index] = (unsigned char)(word >> index % 8 * 8);
  }
  return 1;
}

static int always(void) { return 1; }

int signet_fix_randomness(void) {
  static const RAND_METHOD fixed = {.bytes = fill, .pseudorand = fill, .status = always};
  return RAND_set_rand_method(&fixed);
}

void signet_restart_randomness(uint64_t seed) { atomic_store(&state, seed); }
