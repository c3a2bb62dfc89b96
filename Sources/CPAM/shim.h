#pragma once

#include <security/pam_appl.h>
#include <stdlib.h>

// Only there since Linux-PAM 1.4, and marked by a macro; Swift calls it through this.
static inline int signet_pam_start(const char *service, const char *user, const struct pam_conv *conversation,
                                   const char *folder, pam_handle_t **handle) {
  return folder ? pam_start_confdir(service, user, conversation, folder, handle)
                : pam_start(service, user, conversation, handle);
}
