#pragma once

#include <sys/prctl.h>

// Swift imports no variadic functions. The result is prctl's own.

static inline int signet_set_dumpable(int value) { return prctl(PR_SET_DUMPABLE, value, 0, 0, 0); }

static inline int signet_is_dumpable(void) { return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0); }
