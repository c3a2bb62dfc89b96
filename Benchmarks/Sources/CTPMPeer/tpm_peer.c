#include "tpm_peer.h"

#include <time.h>
#include <tss2/tss2_esys.h>

#define TRY(call)               \
  do {                          \
    code = (call);              \
    if (code != 0) goto finish; \
  } while (0)

#define NO_SESSIONS ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static TSS2_RC start_session(ESYS_CONTEXT *esys, ESYS_TR key, ESYS_TR *session) {
  const TPMT_SYM_DEF symmetric = {.algorithm = TPM2_ALG_AES, .keyBits.aes = 128, .mode.aes = TPM2_ALG_CFB};
  TSS2_RC code = Esys_StartAuthSession(
      esys, key, ESYS_TR_NONE, NO_SESSIONS, NULL, TPM2_SE_HMAC, &symmetric, TPM2_ALG_SHA256, session);
  if (code != 0) return code;
  return Esys_TRSess_SetAttributes(
      esys, *session, TPMA_SESSION_CONTINUESESSION | TPMA_SESSION_ENCRYPT, 0xFF);
}

uint32_t tpm_peer_unseal(void *tcti, int is_protected, int starts_session_each_time, size_t count, uint64_t *times) {
  ESYS_CONTEXT *esys = NULL;
  ESYS_TR key = ESYS_TR_NONE, session = ESYS_TR_NONE;
  TPM2B_PRIVATE *private = NULL;
  TPM2B_PUBLIC *public = NULL;
  TSS2_RC code;
  TRY(Esys_Initialize(&esys, tcti, NULL));

  const TPM2B_PUBLIC storage = {
      .publicArea = {
          .type = TPM2_ALG_ECC,
          .nameAlg = TPM2_ALG_SHA256,
          .objectAttributes = TPMA_OBJECT_FIXEDTPM | TPMA_OBJECT_FIXEDPARENT | TPMA_OBJECT_SENSITIVEDATAORIGIN |
                              TPMA_OBJECT_USERWITHAUTH | TPMA_OBJECT_NODA | TPMA_OBJECT_RESTRICTED |
                              TPMA_OBJECT_DECRYPT,
          .parameters.eccDetail = {
              .symmetric = {.algorithm = TPM2_ALG_AES, .keyBits.aes = 128, .mode.aes = TPM2_ALG_CFB},
              .scheme.scheme = TPM2_ALG_NULL,
              .curveID = TPM2_ECC_NIST_P256,
              .kdf.scheme = TPM2_ALG_NULL}}};
  const TPM2B_PUBLIC data = {
      .publicArea = {
          .type = TPM2_ALG_KEYEDHASH,
          .nameAlg = TPM2_ALG_SHA256,
          .objectAttributes =
              TPMA_OBJECT_FIXEDTPM | TPMA_OBJECT_FIXEDPARENT | TPMA_OBJECT_USERWITHAUTH | TPMA_OBJECT_NODA,
          .parameters.keyedHashDetail.scheme.scheme = TPM2_ALG_NULL}};
  const TPM2B_SENSITIVE_CREATE nothing = {0};
  TPM2B_SENSITIVE_CREATE sensitive = {.sensitive = {.userAuth.size = 32, .data.size = 32}};
  sensitive.sensitive.userAuth.buffer[31] = 1;
  const TPM2B_DATA outside = {0};
  const TPML_PCR_SELECTION registers = {0};
  TRY(Esys_CreatePrimary(
      esys, ESYS_TR_RH_OWNER, ESYS_TR_PASSWORD, ESYS_TR_NONE, ESYS_TR_NONE, &nothing, &storage, &outside, &registers,
      &key, NULL, NULL, NULL, NULL));
  TRY(Esys_Create(
      esys, key, ESYS_TR_PASSWORD, ESYS_TR_NONE, ESYS_TR_NONE, &sensitive, &data, &outside, &registers, &private,
      &public, NULL, NULL, NULL));

  for (size_t index = 0; index < count; index++) {
    const uint64_t start = now();
    if (is_protected && session == ESYS_TR_NONE) TRY(start_session(esys, key, &session));
    const uint64_t loading = starts_session_each_time ? start : now();
    ESYS_TR object;
    TPM2B_SENSITIVE_DATA *secret = NULL;
    TRY(Esys_Load(esys, key, ESYS_TR_PASSWORD, ESYS_TR_NONE, ESYS_TR_NONE, private, public, &object));
    code = Esys_TR_SetAuth(esys, object, &sensitive.sensitive.userAuth);
    if (code == 0) {
      code = Esys_Unseal(
          esys, object, is_protected ? session : ESYS_TR_PASSWORD, ESYS_TR_NONE, ESYS_TR_NONE, &secret);
    }
    Esys_Free(secret);
    const TSS2_RC flushed = Esys_FlushContext(esys, object);
    TRY(code != 0 ? code : flushed);
    if (is_protected && starts_session_each_time) {
      TRY(Esys_FlushContext(esys, session));
      session = ESYS_TR_NONE;
    }
    times[index] = now() - loading;
  }

finish:
  if (session != ESYS_TR_NONE) Esys_FlushContext(esys, session);
  if (key != ESYS_TR_NONE) Esys_FlushContext(esys, key);
  Esys_Free(private);
  Esys_Free(public);
  Esys_Finalize(&esys);
  return code;
}
