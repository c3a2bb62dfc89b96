// A test process ends while tasks of its tests may still run. OpenSSL's clean-up and the destructors of shared libraries would free
// what those use, and the process would be aborted after its last test. The commands do not run them either.
#ifdef __linux__
#define _DEFAULT_SOURCE
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void end(int status, void *unused) {
  (void)unused;
  fflush(NULL);
  _exit(status);
}

// What registers later runs earlier: the clean-up of tests does, and the destructors of shared libraries do not.
__attribute__((constructor)) static void prepare(void) {
  OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
  on_exit(end, NULL);
}
#else
typedef int nothing;
#endif
