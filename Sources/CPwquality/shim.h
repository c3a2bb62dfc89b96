#pragma once

#include <errno.h>
#include <fcntl.h>
#include <pwquality.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

// pwquality_check(3) in a copy of this process that ends with all copies that it makes of the password. The child runs C alone: memory
// and streams of the C library work after fork(2), whatever other threads were doing.
//
// 0, and in `code` a score or an error of libpwquality; else the number of the system's error: ETIMEDOUT where the copy was ended after
// so many seconds, ECHILD where it ended otherwise.
static inline int CPwquality_check_apart(
    pwquality_settings_t *settings, const char *password, unsigned seconds, int *code) {
  int ends[2];
  if (pipe(ends) != 0) return errno;
  for (int i = 0; i < 2; i++) (void)fcntl(ends[i], F_SETFD, FD_CLOEXEC);
  const pid_t child = fork();
  if (child < 0) {
    const int error = errno;
    close(ends[0]), close(ends[1]);
    return error;
  }
  if (child == 0) {
    // What reports crashes of this program, or writes cores, is not for the child's.
    const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGTSTP, SIGALRM};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) (void)signal(signals[i], SIG_DFL);
#ifdef __linux__
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
#endif
    // A dictionary on a disk that hangs ends the child, and the answer is an error.
    sigset_t late;
    sigemptyset(&late);
    sigaddset(&late, SIGALRM);
    (void)sigprocmask(SIG_UNBLOCK, &late, NULL);
    (void)alarm(seconds);
    void *detail = NULL;
    const int result = pwquality_check(settings, password, NULL, NULL, &detail);
    ssize_t written;
    do written = write(ends[1], &result, sizeof result);
    while (written < 0 && errno == EINTR);
    _exit(0);
  }
  close(ends[1]);
  int result = 0;
  ssize_t count;
  do count = read(ends[0], &result, sizeof result);
  while (count < 0 && errno == EINTR);
  close(ends[0]);
  // Where the app ignores the ends of its children, there is nothing to wait for, and how it ended is not told.
  int status = 0;
  pid_t ended;
  do ended = waitpid(child, &status, 0);
  while (ended < 0 && errno == EINTR);
  if (count != (ssize_t)sizeof result) {
    return ended == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? ETIMEDOUT : ECHILD;
  }
  *code = result;
  return 0;
}
