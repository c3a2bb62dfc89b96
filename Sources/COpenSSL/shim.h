#pragma once

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

// Everything that Swift can import is called from Swift. Here are only the macros that it cannot:
// their values are expressions of other macros.

static inline int COpenSSL_EVP_PKEY_PUBLIC_KEY(void) { return EVP_PKEY_PUBLIC_KEY; }
static inline int COpenSSL_EVP_PKEY_KEYPAIR(void) { return EVP_PKEY_KEYPAIR; }

// The only functions that OpenSSL 3 calls deprecated and that are used all the same (docs/decisions/0013): the signature is
// taken as two numbers, not in DER, which EVP_PKEY_verify decodes, encodes again and compares, and the key is one that these
// functions take as it is.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
static inline EC_KEY *COpenSSL_EC_KEY_new(void) { return EC_KEY_new(); }
static inline void COpenSSL_EC_KEY_free(EC_KEY *key) { EC_KEY_free(key); }
static inline int COpenSSL_EC_KEY_set_group(EC_KEY *key, const EC_GROUP *group) { return EC_KEY_set_group(key, group); }
static inline int COpenSSL_EC_KEY_oct2key(EC_KEY *key, const unsigned char *point, size_t count) {
  return EC_KEY_oct2key(key, point, count, NULL);
}
static inline int COpenSSL_ECDSA_do_verify(const unsigned char *digest, int count, const ECDSA_SIG *signature,
                                           const EC_KEY *key) {
  return ECDSA_do_verify(digest, count, signature, (EC_KEY *)key);  // it only reads the key
}
#pragma clang diagnostic pop

// Overwrites the part of the stack that earlier calls used and left, where copies of what they held in registers may lie.
// Swift gives no array of this size on the stack.
__attribute__((noinline)) static inline void COpenSSL_wipe_dead_stack(void) {
  unsigned char bytes[32768];
  OPENSSL_cleanse(bytes, sizeof bytes);
}
