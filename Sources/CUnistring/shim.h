#pragma once

#include <stdlib.h>
#include <unictype.h>
#include <uninorm.h>

// The forms are macros, which Swift does not see.
static inline uninorm_t CUnistring_form_c(void) { return UNINORM_NFC; }
static inline uninorm_t CUnistring_form_d(void) { return UNINORM_NFD; }
