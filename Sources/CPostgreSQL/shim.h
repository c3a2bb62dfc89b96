#pragma once

#include <libpq-fe.h>

/// A `PQnoticeProcessor` that drops what the server says beside its answers; libpq would print it to standard error.
static inline void signet_pq_drop_notice(void *context, const char *message) {
  (void)context;
  (void)message;
}

/// Drops the notices of a connection.
static inline void signet_pq_drop_notices(PGconn *connection) {
  PQsetNoticeProcessor(connection, signet_pq_drop_notice, (void *)0);
}

// The fields of an error (`PG_DIAG_…` are characters, which Swift imports as another type than the functions take).
static const int signet_pq_state = PG_DIAG_SQLSTATE;
static const int signet_pq_message = PG_DIAG_MESSAGE_PRIMARY;
static const int signet_pq_column = PG_DIAG_COLUMN_NAME;
static const int signet_pq_constraint = PG_DIAG_CONSTRAINT_NAME;
