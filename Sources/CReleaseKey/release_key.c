#include "release_key.h"

#ifndef SIGNET_RELEASE_KEY
#define SIGNET_RELEASE_KEY ""
#endif

// Its own file, so that another key builds nothing anew but this.
const char *signet_release_key(void) { return SIGNET_RELEASE_KEY; }
