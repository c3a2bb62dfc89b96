#include <stdint.h>

// Lets OpenSSL draw its random bytes from a sequence that a seed fixes, keys and nonces of signatures included.
// Returns 1 where OpenSSL has agreed.
int signet_fix_randomness(void);

// Begins the sequence again.
void signet_restart_randomness(uint64_t seed);
