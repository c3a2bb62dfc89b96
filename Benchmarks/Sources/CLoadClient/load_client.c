#include "load_client.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct shared {
  uint16_t port;
  const char *const *requests;
  size_t count;
  const char *expected;
  uint64_t *latencies;
  SSL_CTX *context;
  pthread_barrier_t start;
  atomic_size_t next;
  atomic_int failed_line;
  atomic_uint_least64_t cpu;
};

#define FAIL(shared) atomic_store(&(shared)->failed_line, __LINE__)

static uint64_t nanoseconds(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static SSL *connect_tls(struct shared *shared, int *descriptor) {
  *descriptor = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(shared->port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int on = 1;
  if (*descriptor < 0 || connect(*descriptor, (struct sockaddr *)&address, sizeof address) != 0) return NULL;
  setsockopt(*descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  // The generator measures; it does not authenticate the server that it started itself.
  SSL *tls = SSL_new(shared->context);
  if (tls && SSL_set_fd(tls, *descriptor) == 1 && SSL_connect(tls) == 1) return tls;
  SSL_free(tls);
  return NULL;
}

// Reads one answer with a Content-Length and says whether it is 200 and contains what is expected.
static int read_answer(SSL *tls, const char *expected) {
  char buffer[16384];
  size_t count = 0, whole = 0;
  while (whole == 0 || count < whole) {
    if (count == sizeof buffer - 1) return 0;
    int read = SSL_read(tls, buffer + count, (int)(sizeof buffer - 1 - count));
    if (read <= 0) return 0;
    count += (size_t)read;
    buffer[count] = 0;
    char *end = whole == 0 ? strstr(buffer, "\r\n\r\n") : NULL;
    if (end) {
      char *length = strcasestr(buffer, "\r\ncontent-length:");
      if (!length || length > end) return 0;
      whole = (size_t)(end + 4 - buffer) + strtoul(length + 17, NULL, 10);
    }
  }
  return strncmp(buffer, "HTTP/1.1 200", 12) == 0 && strstr(buffer, expected) != NULL;
}

static void *worker(void *argument) {
  struct shared *shared = argument;
  int descriptor;
  SSL *tls = connect_tls(shared, &descriptor);
  if (!tls) FAIL(shared);
  pthread_barrier_wait(&shared->start);
  uint64_t cpu = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
  while (tls && atomic_load(&shared->failed_line) == 0) {
    size_t index = atomic_fetch_add(&shared->next, 1);
    if (index >= shared->count) break;
    const char *request = shared->requests[index];
    uint64_t start = nanoseconds(CLOCK_MONOTONIC);
    if (SSL_write(tls, request, (int)strlen(request)) <= 0 || !read_answer(tls, shared->expected)) FAIL(shared);
    shared->latencies[index] = nanoseconds(CLOCK_MONOTONIC) - start;
  }
  atomic_fetch_add(&shared->cpu, nanoseconds(CLOCK_THREAD_CPUTIME_ID) - cpu);
  if (tls) {
    SSL_shutdown(tls);
    SSL_free(tls);
  }
  if (descriptor >= 0) close(descriptor);
  return NULL;
}

int load_client_run(uint16_t port, int32_t connections, const char *const *requests, size_t count,
                    const char *expected, uint64_t *latencies, struct load_cost *cost) {
  struct shared shared = {port, requests, count, expected, latencies, .context = SSL_CTX_new(TLS_client_method())};
  pthread_t threads[64];
  if (!shared.context || connections < 1 || connections > 64) return __LINE__;
  SSL_CTX_set_min_proto_version(shared.context, TLS1_2_VERSION);
  SSL_CTX_set_verify(shared.context, SSL_VERIFY_NONE, NULL);
  pthread_barrier_init(&shared.start, NULL, (unsigned)connections + 1);
  for (int i = 0; i < connections; i++)
    if (pthread_create(&threads[i], NULL, worker, &shared) != 0) abort();
  pthread_barrier_wait(&shared.start);
  uint64_t start = nanoseconds(CLOCK_MONOTONIC);
  for (int i = 0; i < connections; i++) pthread_join(threads[i], NULL);
  cost->elapsed = nanoseconds(CLOCK_MONOTONIC) - start;
  cost->cpu = atomic_load(&shared.cpu);
  pthread_barrier_destroy(&shared.start);
  SSL_CTX_free(shared.context);
  return atomic_load(&shared.failed_line);
}
