#pragma once

#include <tss2/tss2_mu.h>
#include <tss2/tss2_rc.h>
#include <tss2/tss2_sys.h>
#include <tss2/tss2_tcti.h>
#include <tss2/tss2_tpm2_types.h>

// Everything that Swift can import is called from Swift. Here is only the layout that the library asks of a
// transmission interface: its own part first, then what belongs to us.

typedef struct {
  TSS2_TCTI_CONTEXT_COMMON_V2 common;
  void *link;
} CTPM2_TCTI;
