#pragma once

#include <stddef.h>
#include <stdint.h>

// Seals 32 bytes with tpm2-tss's ESAPI and opens them again so many times, in nanoseconds each: TPM2_Load, TPM2_Unseal and
// TPM2_FlushContext over one connection, with the storage key loaded.
//
// Protected means in a session that is salted with the storage key, authorizes with HMAC and encrypts the answer; it is started
// before the first time, or each time. Returns the code of the library's first failure, or 0.
uint32_t tpm_peer_unseal(void *tcti, int is_protected, int starts_session_each_time, size_t count, uint64_t *times);
