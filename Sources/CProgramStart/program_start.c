#include "program_start.h"

// Linked into our own programs alone: an app that uses the SDK decides for itself what it closes.

#if defined(__linux__)

#include <sys/resource.h>

#include "../CLinuxProcess/shim.h"

static int outcome;

// Variables with which libraries load code or settings, or write down keys. The system's own settings hold.
static const char *const dropped[] = {
    "OPENSSL_", "SSL_CERT_", "SSLKEYLOGFILE=", "CTLOG_FILE=", "RANDFILE=", "QLOGDIR=", "GNUTLS_", "PKCS11_PROVIDER_",
    "TSS2_", "PGSSLKEY=", "PGSSLCERT=", "PGSERVICE", 0,
};

__attribute__((disable_sanitizer_instrumentation)) static int is_dropped(const char *entry) {
  for (int i = 0; dropped[i]; i++) {
    const char *left = dropped[i], *right = entry;
    while (*left && *left == *right) left++, right++;
    if (!*left) return 1;
  }
  return 0;
}

// Runs before the initialisers of every library, also of a preloaded one: it calls none, but the kernel.
__attribute__((disable_sanitizer_instrumentation)) static void begin(int count, char **words, char **environment) {
  (void)count, (void)words;
  long group = signet_kernel(SYS_getgid, 0, 0, 0, 0, 0, 0);
  if (signet_kernel(SYS_getegid, 0, 0, 0, 0, 0, 0) != group) {
    outcome |= SIGNET_START_SET_GROUP;
    // Files that it makes are of the user's group, as any other program's; the agent is still shown the program's.
    (void)signet_kernel(SYS_setfsgid, group, 0, 0, 0, 0, 0);
  }
  // After setfsgid(2), with which the kernel goes by fs.suid_dumpable.
  if (signet_kernel(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0, 0) == 0) outcome |= SIGNET_START_CLOSED;
  struct rlimit none = {0, 0};
  (void)signet_kernel(SYS_prlimit64, 0, RLIMIT_CORE, (long)&none, 0, 0, 0);
  char **kept = environment;
  for (char **entry = environment; *entry; entry++) {
    if (!is_dropped(*entry)) {
      *kept++ = *entry;
      continue;
    }
    // Also where the kernel shows it: what has no effect is no sign of tampering.
    for (volatile char *byte = *entry; *byte; byte++) *byte = 0;
  }
  *kept = 0;
}

__attribute__((section(".preinit_array"), used)) static void (*const first)(int, char **, char **) = begin;

int signet_program_start(void) { return outcome; }

#else

int signet_program_start(void) { return 0; }

#endif
