// The dialogue of a peer with the benchmark, one line at a time on standard input and output:
//
//   set NAME TEXT    remembers an input                     -> nothing
//   run NAME COUNT   does an operation COUNT times          -> nanoseconds of CPU time of this thread
//
// An operation that fails, or a name that is not known, ends the process with status 1: a peer that does not do the
// work has no speed.
#pragma once
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline uint64_t peer_cpu_nanoseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

// Ends the process unless an operation succeeded.
static inline void peer_require(int condition, const char *what) {
  if (condition) return;
  fprintf(stderr, "%s failed\n", what);
  exit(1);
}

// Serves lines until the input ends. `set` and `run` answer whether they know the name.
static inline int peer_serve(int (*set)(const char *name, const char *text), int (*run)(const char *name, long count)) {
  static char line[65536];
  while (fgets(line, sizeof line, stdin)) {
    line[strcspn(line, "\n")] = 0;
    char *verb = strtok(line, " "), *name = strtok(NULL, " "), *rest = strtok(NULL, "");
    peer_require(verb && name && rest, "reading a line");
    if (strcmp(verb, "set") == 0) {
      peer_require(set(name, rest), name);
    } else {
      uint64_t start = peer_cpu_nanoseconds();
      peer_require(run(name, atol(rest)), name);
      printf("%llu\n", (unsigned long long)(peer_cpu_nanoseconds() - start));
      fflush(stdout);
    }
  }
  return 0;
}
