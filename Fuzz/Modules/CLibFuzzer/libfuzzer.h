#include <stddef.h>
#include <stdint.h>

// From the libFuzzer documentation, "Using libFuzzer as a library": the loop that its own `main` would run.
// The compiler's runtime has the function, but no header for it.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*check)(const uint8_t *data, size_t size));
