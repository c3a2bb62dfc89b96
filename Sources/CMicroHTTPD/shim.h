#pragma once

#include <fcntl.h>
#include <gnutls/gnutls.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

// Hidden without _GNU_SOURCE, which a module cannot set for the headers of others; the value of Linux on x86 and ARM.
#ifndef POLLRDHUP
#define POLLRDHUP 0x2000
#endif

// MHD_start_daemon, MHD_get_connection_info and MHD_set_connection_option are variadic, and some enum
// constants are not imported by Swift: the functions below are those calls with fixed parameters.

/// Who is called when MHD itself is about to answer with an error: on the thread of the connection, which MHD does not name, and
/// before anything of the answer exists.
typedef struct {
  void (*refuses)(void *context, unsigned int status);
  void *context;
} signet_mhd_refusals;

/// What a daemon is started with. The callbacks, `context` and `refusals` must outlive the daemon.
typedef struct {
  void *context;
  const signet_mhd_refusals *refusals;
  MHD_AccessHandlerCallback handle;
  void *(*target)(void *context, const char *target, struct MHD_Connection *connection);
  MHD_RequestCompletedCallback completed;
  MHD_NotifyConnectionCallback connection;
  unsigned int connection_limit;
  unsigned int idle_seconds;
  size_t memory_limit;
  const char *certificate; // PEM, zero-terminated; NULL for plaintext
  const char *private_key;
  const char *priorities;
} signet_mhd_options;

/// Keeps percent-encoding as it came: targets are decoded, strictly, by the caller.
static inline size_t signet_mhd_keep_escapes(void *context, struct MHD_Connection *connection, char *text) {
  (void)context;
  (void)connection;
  return strlen(text);
}

/// Ends a target after its question mark, once it has been copied, so that MHD does not parse the arguments:
/// it would keep each one in the connection's memory and cannot answer when that is full. MHD splits this very
/// memory itself right after the callback; only the callback's parameter is const.
static inline void signet_mhd_skip_arguments(const char *target) {
  char *mark = strchr((char *)target, '?');
  if (mark)
    mark[1] = 0;
}

/// MHD's log, of which one message is of use: the one before each answer that MHD makes without asking its caller.
static inline void signet_mhd_log(void *context, const char *format, va_list arguments) {
  const signet_mhd_refusals *refusals = (const signet_mhd_refusals *)context;
  static const char beginning[] = "Error processing request (HTTP response code is %u";
  if (refusals->refuses && strncmp(format, beginning, sizeof beginning - 1) == 0)
    refusals->refuses(refusals->context, va_arg(arguments, unsigned int));
}

/// Starts one thread that serves the connections given to it by MHD_add_connection. It waits with poll(2): with epoll, the library tries
/// half a TLS handshake again and again, as fast as it can, for as long as the client likes (docs/decisions/0205).
static inline struct MHD_Daemon *signet_mhd_start(const signet_mhd_options *o) {
  unsigned int flags =
      MHD_USE_POLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ITC |
                       MHD_USE_ERROR_LOG;
  struct MHD_OptionItem tls[] = {
      {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)o->certificate},
      {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)o->private_key},
      {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)o->priorities},
      {MHD_OPTION_END, 0, NULL},
  };
  struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};
  if (o->certificate)
    flags |= MHD_USE_TLS;
  return MHD_start_daemon(flags, 0, NULL, NULL, o->handle, o->context,
                          // The first, so that nothing goes to standard error.
                          MHD_OPTION_EXTERNAL_LOGGER, signet_mhd_log, (void *)o->refusals,
                          MHD_OPTION_URI_LOG_CALLBACK, o->target, o->context,
                          MHD_OPTION_NOTIFY_COMPLETED, o->completed, o->context,
                          MHD_OPTION_NOTIFY_CONNECTION, o->connection, o->context,
                          MHD_OPTION_UNESCAPE_CALLBACK, signet_mhd_keep_escapes, NULL,
                          MHD_OPTION_CONNECTION_LIMIT, o->connection_limit,
                          MHD_OPTION_CONNECTION_TIMEOUT, o->idle_seconds,
                          MHD_OPTION_CONNECTION_MEMORY_LIMIT, o->memory_limit,
                          // Lenient: what it would refuse is refused by the caller, with one answer instead of two.
                          MHD_OPTION_STRICT_FOR_CLIENT, 0,
                          MHD_OPTION_ARRAY, o->certificate ? tls : none,
                          MHD_OPTION_END);
}

/// The socket of a connection, or -1.
static inline int signet_mhd_socket(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info ? info->connect_fd : -1;
}

/// What the connection callback stored when the connection began.
static inline void *signet_mhd_socket_context(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info ? info->socket_context : NULL;
}

/// The bytes from the method to the empty line, both included; 0 while they are not all there.
static inline size_t signet_mhd_head_size(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
  return info ? info->header_size : 0;
}

/// Whether a response of the request is queued.
static inline int signet_mhd_has_response(struct MHD_Connection *connection) {
  return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_HTTP_STATUS) != NULL;
}

static inline gnutls_session_t signet_mhd_tls(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
  return info ? (gnutls_session_t)info->tls_session : NULL;
}

/// Sends bytes past MHD, which has no way to answer in the middle of a body, and ends the sending side.
/// Only on the connection's own thread. What does not fit the socket's buffer at once is not sent.
static inline void signet_mhd_send_last(struct MHD_Connection *connection, const void *bytes, size_t count) {
  gnutls_session_t tls = signet_mhd_tls(connection);
  int fd = signet_mhd_socket(connection);
  if (tls) {
    (void)gnutls_record_send(tls, bytes, count);
    (void)gnutls_bye(tls, GNUTLS_SHUT_WR);
  } else if (fd >= 0) {
    (void)send(fd, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  if (fd >= 0)
    (void)shutdown(fd, SHUT_WR);
}

/// A response that holds its own copy of the bytes.
static inline struct MHD_Response *signet_mhd_response(const void *bytes, size_t count) {
  return MHD_create_response_from_buffer(count, (void *)bytes, MHD_RESPMEM_MUST_COPY);
}

/// GnuTLS's opinion of a certificate chain and its key (PEM, zero-terminated): 0 or its error code.
static inline int signet_tls_check(const char *certificate, const char *private_key) {
  gnutls_certificate_credentials_t credentials = NULL;
  gnutls_datum_t chain = {(unsigned char *)certificate, (unsigned int)strlen(certificate)};
  gnutls_datum_t key = {(unsigned char *)private_key, (unsigned int)strlen(private_key)};
  int code = gnutls_certificate_allocate_credentials(&credentials);
  if (code < 0)
    return code;
  code = gnutls_certificate_set_x509_key_mem(credentials, &chain, &key, GNUTLS_X509_FMT_PEM);
  gnutls_certificate_free_credentials(credentials);
  return code < 0 ? code : 0;
}

/// Overwrites memory in a way the compiler may not leave out.
static inline void signet_wipe(void *bytes, size_t count) { gnutls_memset(bytes, 0, count); }

/// Accepts a connection whose descriptor is non-blocking and closed by exec; -1 with errno otherwise.
static inline int signet_accept(int listener, struct sockaddr *address, socklen_t *length) {
  int fd = accept(listener, address, length);
  if (fd >= 0) {
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    (void)fcntl(fd, F_SETFL, O_NONBLOCK);
  }
  return fd;
}

/// Whether the peer of a connected socket has closed at least its sending side.
static inline int signet_peer_has_left(int fd) {
  struct pollfd entry = {fd, POLLRDHUP, 0};
  return poll(&entry, 1, 0) > 0;
}

/// Visits the header fields of a request, in order.
static inline void signet_mhd_fields(struct MHD_Connection *connection, MHD_KeyValueIteratorN visit, void *context) {
  (void)MHD_get_connection_values_n(connection, MHD_HEADER_KIND, visit, context);
}

/// Whether a connection begins; the other notification is its end.
static inline int signet_mhd_begins(enum MHD_ConnectionNotificationCode code) {
  return code == MHD_CONNECTION_NOTIFY_STARTED;
}
