#include "crowd.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

struct member {
  int descriptor;
  SSL *tls;
  char *buffer;
  size_t count, room;
};

struct crowd {
  SSL_CTX *context;
  int poll;
  uint16_t port;
  int32_t limit, count;
  // The member whose buffer the last answer lies in, or -1.
  int32_t answered;
  struct epoll_event ready[256];
  int ready_count, ready_next;
  struct member members[];
};

struct crowd *crowd_new(uint16_t port, int32_t limit) {
  struct crowd *crowd = calloc(1, sizeof *crowd + (size_t)limit * sizeof crowd->members[0]);
  if (!crowd) return NULL;
  crowd->context = SSL_CTX_new(TLS_client_method());
  crowd->poll = epoll_create1(EPOLL_CLOEXEC);
  crowd->port = port, crowd->limit = limit, crowd->answered = -1;
  if (!crowd->context || crowd->poll < 0) abort();
  SSL_CTX_set_min_proto_version(crowd->context, TLS1_2_VERSION);
  SSL_CTX_set_mode(crowd->context, SSL_MODE_RELEASE_BUFFERS);
  // It measures; it does not authenticate the server that it was started for.
  SSL_CTX_set_verify(crowd->context, SSL_VERIFY_NONE, NULL);
  return crowd;
}

int32_t crowd_join(struct crowd *crowd, uint32_t source) {
  if (crowd->count == crowd->limit) return -1;
  int32_t index = crowd->count;
  struct member *member = &crowd->members[index];
  member->descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (member->descriptor < 0) return -1;
  crowd->count++;
  struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(127u << 24 | source)};
  struct sockaddr_in server = {.sin_family = AF_INET, .sin_port = htons(crowd->port)};
  server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int on = 1;
  if (bind(member->descriptor, (struct sockaddr *)&own, sizeof own) != 0 ||
      connect(member->descriptor, (struct sockaddr *)&server, sizeof server) != 0)
    return -1;
  setsockopt(member->descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  member->tls = SSL_new(crowd->context);
  if (!member->tls || SSL_set_fd(member->tls, member->descriptor) != 1 || SSL_connect(member->tls) != 1) return -1;
  struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)index};
  if (fcntl(member->descriptor, F_SETFL, O_NONBLOCK) != 0 ||
      epoll_ctl(crowd->poll, EPOLL_CTL_ADD, member->descriptor, &event) != 0)
    return -1;
  return index;
}

int crowd_send(struct crowd *crowd, int32_t index, const char *request) {
  return SSL_write(crowd->members[index].tls, request, (int)strlen(request)) > 0;
}

static const char *field(const char *head, const char *end, const char *name) {
  const char *found = strcasestr(head, name);
  return found && found < end ? found + strlen(name) : NULL;
}

// Whether a member has a whole answer, which is put into `answer` then; minus a line where it is none.
static int whole(struct member *member, int32_t index, struct crowd_answer *answer) {
  char *end = strstr(member->buffer, "\r\n\r\n");
  if (!end) return 0;
  if (strncmp(member->buffer, "HTTP/1.1 ", 9) != 0) return -__LINE__;
  const char *length = field(member->buffer, end, "\r\ncontent-length:");
  size_t body = length ? strtoul(length, NULL, 10) : 0;
  end += 4;
  if (member->count < (size_t)(end - member->buffer) + body) return 0;
  *answer = (struct crowd_answer){.index = index, .status = atoi(member->buffer + 9), .body = end, .body_size = body};
  const char *tag = field(member->buffer, end, "\r\netag:");
  if (tag) {
    while (*tag == ' ') tag++;
    answer->tag = tag, answer->tag_size = strcspn(tag, "\r");
  }
  return 1;
}

static int receive(struct member *member, int32_t index, struct crowd_answer *answer) {
  for (;;) {
    if (member->room - member->count < 2048) {
      member->room = member->room ? member->room * 2 : 4096;
      member->buffer = realloc(member->buffer, member->room);
      if (!member->buffer) return -__LINE__;
    }
    int read = SSL_read(member->tls, member->buffer + member->count, (int)(member->room - member->count - 1));
    if (read <= 0) {
      if (SSL_get_error(member->tls, read) != SSL_ERROR_WANT_READ) return -__LINE__;
      if (member->count == 0) free(member->buffer), member->buffer = NULL, member->room = 0;
      return 0;
    }
    member->count += (size_t)read;
    member->buffer[member->count] = 0;
    int outcome = whole(member, index, answer);
    if (outcome != 0) return outcome;
  }
}

int crowd_next(struct crowd *crowd, int32_t milliseconds, struct crowd_answer *answer) {
  if (crowd->answered >= 0) {
    struct member *member = &crowd->members[crowd->answered];
    free(member->buffer);
    member->buffer = NULL, member->count = member->room = 0;
    crowd->answered = -1;
  }
  for (;;) {
    while (crowd->ready_next < crowd->ready_count) {
      int32_t index = (int32_t)crowd->ready[crowd->ready_next++].data.u32;
      int outcome = receive(&crowd->members[index], index, answer);
      if (outcome > 0) crowd->answered = index;
      if (outcome != 0) return outcome;
    }
    crowd->ready_next = 0;
    crowd->ready_count = epoll_wait(crowd->poll, crowd->ready, 256, milliseconds);
    if (crowd->ready_count < 0) return crowd->ready_count = 0, -__LINE__;
    if (crowd->ready_count == 0) return 0;
  }
}

void crowd_close(struct crowd *crowd) {
  for (int32_t i = 0; i < crowd->count; i++) {
    SSL_free(crowd->members[i].tls);
    free(crowd->members[i].buffer);
    close(crowd->members[i].descriptor);
  }
  close(crowd->poll);
  SSL_CTX_free(crowd->context);
  free(crowd);
}
