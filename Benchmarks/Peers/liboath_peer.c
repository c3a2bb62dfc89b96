// liboath: generates and validates one-time codes from a key of 20 bytes.
#include "peer.h"
#include <liboath/oath.h>

static const char key[20] = {'1', '2', '3', '4', '5', '6', '7', '8', '9', '0',
                             '1', '2', '3', '4', '5', '6', '7', '8', '9', '0'};
static const time_t now = 1700000000;

static int set(const char *name, const char *text) { return name && text && 0; }

static int generate(long count) {
  char code[16];
  for (long i = 0; i < count; i++)
    peer_require(oath_hotp_generate(key, sizeof key, (uint64_t)i, 6, 0, OATH_HOTP_DYNAMIC_TRUNCATION, code) == OATH_OK,
                 "oath_hotp_generate");
  return 1;
}

// The code is that of the earlier step, which liboath tries last: all three of the window are computed, as our own
// check always does.
static int validate(long count) {
  char code[16];
  peer_require(oath_totp_generate(key, sizeof key, now - 30, 30, 0, 6, code) == OATH_OK, "oath_totp_generate");
  for (long i = 0; i < count; i++)
    peer_require(oath_totp_validate(key, sizeof key, now, 30, 0, 1, code) >= 0, "oath_totp_validate");
  return 1;
}

static int run(const char *name, long count) {
  if (strcmp(name, "generate") == 0) return generate(count);
  if (strcmp(name, "validate") == 0) return validate(count);
  return 0;
}

int main(void) {
  peer_require(oath_init() == OATH_OK, "oath_init");
  return peer_serve(set, run);
}
