#include "load_client.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { most_connections = 64 };

// One keep-alive connection: it waits for the answer to one request.
struct link {
  int descriptor;
  SSL *tls;
  size_t index;
  uint64_t start;
  size_t count, whole;
  char buffer[8192];
};

static uint64_t nanoseconds(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int connect_tls(struct link *link, uint16_t port, SSL_CTX *context) {
  link->descriptor = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int on = 1;
  if (link->descriptor < 0 || connect(link->descriptor, (struct sockaddr *)&address, sizeof address) != 0) return 0;
  setsockopt(link->descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  // The generator measures; it does not authenticate the server that it started itself.
  link->tls = SSL_new(context);
  if (!link->tls || SSL_set_fd(link->tls, link->descriptor) != 1 || SSL_connect(link->tls) != 1) return 0;
  return fcntl(link->descriptor, F_SETFL, O_NONBLOCK) == 0;
}

static int send_request(struct link *link, const char *request, size_t index) {
  link->index = index;
  link->count = link->whole = 0;
  link->start = nanoseconds(CLOCK_MONOTONIC);
  // A request is far smaller than the socket's buffer, which is empty: the answer before was read.
  return SSL_write(link->tls, request, (int)strlen(request)) > 0;
}

// Reads what there is: 1 for a whole answer that is 200 and contains what is expected, 0 for a part of one, -1 for
// anything else.
static int read_answer(struct link *link, const char *expected) {
  for (;;) {
    int room = (int)(sizeof link->buffer - 1 - link->count);
    if (room == 0) return -1;
    int read = SSL_read(link->tls, link->buffer + link->count, room);
    if (read <= 0) return SSL_get_error(link->tls, read) == SSL_ERROR_WANT_READ ? 0 : -1;
    link->count += (size_t)read;
    link->buffer[link->count] = 0;
    char *end = link->whole == 0 ? strstr(link->buffer, "\r\n\r\n") : NULL;
    if (end) {
      char *length = strcasestr(link->buffer, "\r\ncontent-length:");
      if (!length || length > end) return -1;
      link->whole = (size_t)(end + 4 - link->buffer) + strtoul(length + 17, NULL, 10);
    }
    if (link->whole == 0 || link->count < link->whole) continue;
    return strncmp(link->buffer, "HTTP/1.1 200", 12) == 0 && strstr(link->buffer, expected) ? 1 : -1;
  }
}

// Sends all requests, and reads all answers, on this thread.
static int exchange(struct link *links, int connections, int poll, const char *const *requests, size_t count,
                    const char *expected, uint64_t *latencies) {
  size_t next = 0, answered = 0;
  for (int i = 0; i < connections && next < count; i++, next++)
    if (!send_request(&links[i], requests[next], next)) return __LINE__;
  while (answered < count) {
    struct epoll_event events[most_connections];
    int ready = epoll_wait(poll, events, most_connections, 10000);
    if (ready <= 0) return __LINE__;
    for (int i = 0; i < ready; i++) {
      struct link *link = events[i].data.ptr;
      int outcome = read_answer(link, expected);
      if (outcome < 0) return __LINE__;
      if (outcome == 0) continue;
      latencies[link->index] = nanoseconds(CLOCK_MONOTONIC) - link->start;
      answered++;
      if (next < count && !send_request(link, requests[next], next)) return __LINE__;
      if (next < count) next++;
    }
  }
  return 0;
}

struct load_client {
  SSL_CTX *context;
  int poll;
  int32_t connections;
  struct link links[most_connections];
};

struct load_client *load_client_open(uint16_t port, int32_t connections) {
  struct load_client *client = calloc(1, sizeof *client);
  if (!client || connections < 1 || connections > most_connections) abort();
  client->context = SSL_CTX_new(TLS_client_method());
  client->poll = epoll_create1(EPOLL_CLOEXEC);
  client->connections = connections;
  if (!client->context || client->poll < 0) abort();
  SSL_CTX_set_min_proto_version(client->context, TLS1_2_VERSION);
  SSL_CTX_set_verify(client->context, SSL_VERIFY_NONE, NULL);
  for (int i = 0; i < connections; i++) {
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &client->links[i]};
    if (!connect_tls(&client->links[i], port, client->context) ||
        epoll_ctl(client->poll, EPOLL_CTL_ADD, client->links[i].descriptor, &event) != 0) {
      load_client_close(client);
      return NULL;
    }
  }
  return client;
}

int load_client_run(struct load_client *client, const char *const *requests, size_t count, const char *expected,
                    uint64_t *latencies, struct load_cost *cost) {
  uint64_t start = nanoseconds(CLOCK_MONOTONIC), cpu = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
  int failed_line =
      exchange(client->links, client->connections, client->poll, requests, count, expected, latencies);
  cost->elapsed = nanoseconds(CLOCK_MONOTONIC) - start;
  cost->cpu = nanoseconds(CLOCK_THREAD_CPUTIME_ID) - cpu;
  return failed_line;
}

void load_client_close(struct load_client *client) {
  for (int i = 0; i < client->connections; i++) {
    if (client->links[i].tls) SSL_shutdown(client->links[i].tls);
    SSL_free(client->links[i].tls);
    if (client->links[i].descriptor > 0) close(client->links[i].descriptor);
  }
  close(client->poll);
  SSL_CTX_free(client->context);
  free(client);
}
