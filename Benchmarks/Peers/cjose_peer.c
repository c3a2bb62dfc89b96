// cjose: verifies an ES256 JWS and decrypts an ECDH-ES JWE, each from its compact form, under keys that are kept.
#include "peer.h"
#include <cjose/cjose.h>

static cjose_jwk_t *signing, *agreement;
static char *jws, *jwe;
static cjose_err failure;

static int set(const char *name, const char *text) {
  if (strcmp(name, "signing-key") == 0) return (signing = cjose_jwk_import(text, strlen(text), &failure)) != NULL;
  if (strcmp(name, "agreement-key") == 0) return (agreement = cjose_jwk_import(text, strlen(text), &failure)) != NULL;
  if (strcmp(name, "jws") == 0) return (jws = strdup(text)) != NULL;
  if (strcmp(name, "jwe") == 0) return (jwe = strdup(text)) != NULL;
  return 0;
}

static void verify(void) {
  cjose_jws_t *message = cjose_jws_import(jws, strlen(jws), &failure);
  peer_require(message && cjose_jws_verify(message, signing, &failure), "cjose_jws_verify");
  uint8_t *payload;
  size_t count;
  peer_require(cjose_jws_get_plaintext(message, &payload, &count, &failure), "cjose_jws_get_plaintext");
  cjose_jws_release(message);
}

static void decrypt(void) {
  cjose_jwe_t *message = cjose_jwe_import(jwe, strlen(jwe), &failure);
  peer_require(message != NULL, "cjose_jwe_import");
  size_t count = 0;
  uint8_t *plaintext = cjose_jwe_decrypt(message, agreement, &count, &failure);
  peer_require(plaintext && count > 0, "cjose_jwe_decrypt");
  free(plaintext);
  cjose_jwe_release(message);
}

static int run(const char *name, long count) {
  void (*operation)(void) = strcmp(name, "verify") == 0 ? verify : strcmp(name, "decrypt") == 0 ? decrypt : NULL;
  for (long i = 0; operation && i < count; i++) operation();
  return operation != NULL;
}

int main(void) { return peer_serve(set, run); }
