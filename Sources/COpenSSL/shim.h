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

// Overwrites the vector registers, in which copies move memory and ciphers work.
static inline void COpenSSL_wipe_vector_registers(void) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f"))
    // Nothing that is compiled here uses these; copies of the C library do.
    __asm__ volatile("vpxord %zmm16, %zmm16, %zmm16\n\tvpxord %zmm17, %zmm17, %zmm17\n\t"
                     "vpxord %zmm18, %zmm18, %zmm18\n\tvpxord %zmm19, %zmm19, %zmm19\n\t"
                     "vpxord %zmm20, %zmm20, %zmm20\n\tvpxord %zmm21, %zmm21, %zmm21\n\t"
                     "vpxord %zmm22, %zmm22, %zmm22\n\tvpxord %zmm23, %zmm23, %zmm23\n\t"
                     "vpxord %zmm24, %zmm24, %zmm24\n\tvpxord %zmm25, %zmm25, %zmm25\n\t"
                     "vpxord %zmm26, %zmm26, %zmm26\n\tvpxord %zmm27, %zmm27, %zmm27\n\t"
                     "vpxord %zmm28, %zmm28, %zmm28\n\tvpxord %zmm29, %zmm29, %zmm29\n\t"
                     "vpxord %zmm30, %zmm30, %zmm30\n\tvpxord %zmm31, %zmm31, %zmm31");
  if (__builtin_cpu_supports("avx"))
    __asm__ volatile("vzeroall" ::: "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
                     "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
  else
    __asm__ volatile("pxor %%xmm0, %%xmm0\n\tpxor %%xmm1, %%xmm1\n\tpxor %%xmm2, %%xmm2\n\tpxor %%xmm3, %%xmm3\n\t"
                     "pxor %%xmm4, %%xmm4\n\tpxor %%xmm5, %%xmm5\n\tpxor %%xmm6, %%xmm6\n\tpxor %%xmm7, %%xmm7\n\t"
                     "pxor %%xmm8, %%xmm8\n\tpxor %%xmm9, %%xmm9\n\tpxor %%xmm10, %%xmm10\n\tpxor %%xmm11, %%xmm11\n\t"
                     "pxor %%xmm12, %%xmm12\n\tpxor %%xmm13, %%xmm13\n\tpxor %%xmm14, %%xmm14\n\tpxor %%xmm15, %%xmm15" ::
                         : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
                           "xmm12", "xmm13", "xmm14", "xmm15");
#elif defined(__aarch64__)
  // Without v8 to v15, half of which belongs to the caller.
  __asm__ volatile("movi v0.2d, #0\n\tmovi v1.2d, #0\n\tmovi v2.2d, #0\n\tmovi v3.2d, #0\n\tmovi v4.2d, #0\n\t"
                   "movi v5.2d, #0\n\tmovi v6.2d, #0\n\tmovi v7.2d, #0\n\tmovi v16.2d, #0\n\tmovi v17.2d, #0\n\t"
                   "movi v18.2d, #0\n\tmovi v19.2d, #0\n\tmovi v20.2d, #0\n\tmovi v21.2d, #0\n\tmovi v22.2d, #0\n\t"
                   "movi v23.2d, #0\n\tmovi v24.2d, #0\n\tmovi v25.2d, #0\n\tmovi v26.2d, #0\n\tmovi v27.2d, #0\n\t"
                   "movi v28.2d, #0\n\tmovi v29.2d, #0\n\tmovi v30.2d, #0\n\tmovi v31.2d, #0" ::
                       : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23",
                         "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31");
#endif
}

// Overwrites the part of the stack that earlier calls used and left, where copies of what they held in registers may lie.
// Swift gives no array of this size on the stack. Nothing is called: the first call of another library's function has the dynamic
// linker save all registers, below the part that is wiped.
__attribute__((noinline)) static void COpenSSL_wipe_dead_stack(void) {
  COpenSSL_wipe_vector_registers();
  volatile unsigned long words[32768 / sizeof(unsigned long)];
  for (size_t index = 0; index < sizeof words / sizeof *words; index++) words[index] = 0;
}
