#include "empty_server.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>

// The first call is for the head, further ones for the body, the last one, without bytes, for the end.
static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *data, size_t *count, void **request) {
  (void)url, (void)method, (void)version, (void)data;
  if (!*request) {
    *request = context;
    return MHD_YES;
  }
  if (*count > 0) {
    *count = 0;
    return MHD_YES;
  }
  return MHD_queue_response(connection, MHD_HTTP_OK, context);
}

uint16_t empty_server_start(const char *certificate, const char *private_key, const char *priorities) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  struct MHD_Response *response = MHD_create_response_from_buffer(0, "", MHD_RESPMEM_PERSISTENT);
  struct MHD_Daemon *daemon = MHD_start_daemon(
      MHD_USE_POLL_INTERNAL_THREAD | MHD_USE_TLS, 0, NULL, NULL, answer, response, MHD_OPTION_SOCK_ADDR, &address,
      MHD_OPTION_THREAD_POOL_SIZE, 2u, MHD_OPTION_CONNECTION_LIMIT, 2048u, MHD_OPTION_CONNECTION_TIMEOUT, 15u,
      MHD_OPTION_HTTPS_MEM_CERT, certificate, MHD_OPTION_HTTPS_MEM_KEY, private_key, MHD_OPTION_HTTPS_PRIORITIES,
      priorities, MHD_OPTION_END);
  if (!daemon) return 0;
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
  return info ? info->port : 0;
}
