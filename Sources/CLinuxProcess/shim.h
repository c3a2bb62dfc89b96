#pragma once

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <linux/sock_diag.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

// Swift imports no variadic functions. The result is prctl's own.

static inline int signet_set_dumpable(int value) { return prctl(PR_SET_DUMPABLE, value, 0, 0, 0); }

static inline int signet_is_dumpable(void) { return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0); }

// A call of the kernel that passes no function of a library: who hooks open() and read() to hide a tracer hides nothing here.
// The result is the kernel's: negative, the number of the error.
static inline long signet_kernel(long number, long a, long b, long c, long d, long e, long f) {
#if defined(__x86_64__)
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory", "cc");
  return x0;
#else
  long result = syscall(number, a, b, c, d, e, f);
  return result == -1 ? -errno : result;
#endif
}

// A path that does not exist, or a pipe, makes nobody wait.
static inline int signet_kernel_open(const char *path) {
  return (int)signet_kernel(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0, 0, 0);
}

static inline long signet_kernel_read(int descriptor, void *buffer, size_t count) {
  return signet_kernel(SYS_read, descriptor, (long)buffer, (long)count, 0, 0, 0);
}

static inline long signet_kernel_read_at(int descriptor, void *buffer, size_t count, int64_t offset) {
  return signet_kernel(SYS_pread64, descriptor, (long)buffer, (long)count, (long)offset, 0, 0);
}

static inline long signet_kernel_list(int descriptor, void *buffer, size_t count) {
  return signet_kernel(SYS_getdents64, descriptor, (long)buffer, (long)count, 0, 0, 0);
}

static inline void signet_kernel_close(int descriptor) { (void)signet_kernel(SYS_close, descriptor, 0, 0, 0, 0, 0); }

// Copies memory of this process; an address that is not there is an error and no crash.
static inline long signet_copy_memory(void *target, uint64_t source, size_t count) {
  struct iovec local = {target, count};
  struct iovec remote = {(void *)(uintptr_t)source, count};
  long self = signet_kernel(SYS_getpid, 0, 0, 0, 0, 0, 0);
  return signet_kernel(SYS_process_vm_readv, self, (long)&local, 1, (long)&remote, 1, 0);
}

// Where the kernel has put the program's table of segments. From what it has left on the stack: the file in /proc that has the same may
// not be read by a program with a group of its own.
static inline uint64_t signet_program_header(void) { return getauxval(AT_PHDR); }

// Compares bytes with memory, which must be there and readable; 1 if they are the same. No function of a library, hooked or not, has a
// say.
static inline int signet_is_same(const void *bytes, uint64_t address, size_t count) {
  typedef uint64_t block __attribute__((vector_size(64)));
  const unsigned char *left = bytes, *right = (const unsigned char *)(uintptr_t)address;
  block differences = {0};
  size_t i = 0;
  for (; i + sizeof(block) <= count; i += sizeof(block)) {
    block a, b;
    __builtin_memcpy(&a, left + i, sizeof(block)), __builtin_memcpy(&b, right + i, sizeof(block));
    differences |= a ^ b;
  }
  uint64_t difference = 0;
  for (unsigned lane = 0; lane < 8; lane++) difference |= differences[lane];
  for (; i < count; i++) difference |= left[i] ^ right[i];
  return difference == 0;
}

// The twelve letters with which a hypervisor names itself to programs; empty on real hardware, and where nobody can ask.
static inline int signet_hypervisor(char name[13]) {
  name[0] = 0;
#if defined(__x86_64__)
  unsigned a = 1, b = 0, c = 0, d = 0;
  __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  if (!(c >> 31)) return 0;
  a = 0x40000000;
  c = 0;
  __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  unsigned words[3] = {b, c, d};
  for (int i = 0; i < 12; i++) {
    char letter = (char)(words[i / 4] >> (i % 4 * 8));
    name[i] = letter >= ' ' && letter <= '~' ? letter : 0;
  }
  name[12] = 0;
  return 1;
#else
  return 0;
#endif
}

// A copy of this process with one thread and no signal at its end, so that nobody else waits for it. It may make system calls
// only: it has the locks of threads that it does not have.
static inline int signet_bare_child(void) {
#if defined(__aarch64__) || defined(__x86_64__)
  return (int)signet_kernel(SYS_clone, 0, 0, 0, 0, 0, 0);
#else
  return -ENOSYS;
#endif
}

// Swift sees a function that gives `Never`.
static inline void __attribute__((noreturn)) signet_kernel_exit(int status) {
  for (;;) (void)signet_kernel(SYS_exit_group, status, 0, 0, 0, 0, 0);
}

static inline long signet_seize(int process) {
  return signet_kernel(SYS_ptrace, 0x4206 /* PTRACE_SEIZE */, process, 0, 0, 0, 0);
}

static inline void signet_end_child(int child) {
  int status;
  (void)signet_kernel(SYS_kill, child, SIGKILL, 0, 0, 0, 0);
  while (signet_kernel(SYS_wait4, child, (long)&status, 0x40000000 /* __WALL */, 0, 0, 0) == -EINTR) {}
}

// Whether somebody traces this process, without believing /proc: a child tries to, and lets go at once.
//
// 0: nobody does. 1: somebody does, for the child may trace another process and not this one. -1: the system does not say.
static inline int signet_probe_tracer(int milliseconds) {
  int ready[2], answer[2];
  if (signet_kernel(SYS_pipe2, (long)ready, O_CLOEXEC, 0, 0, 0, 0) < 0) return -1;
  if (signet_kernel(SYS_pipe2, (long)answer, O_CLOEXEC, 0, 0, 0, 0) < 0) {
    signet_kernel_close(ready[0]), signet_kernel_close(ready[1]);
    return -1;
  }
  int self = (int)signet_kernel(SYS_getpid, 0, 0, 0, 0, 0, 0);
  int child = signet_bare_child();
  if (child == 0) {
    char result = 'u', byte;
    (void)signet_kernel(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0, 0);
    (void)signet_kernel(SYS_read, ready[0], (long)&byte, 1, 0, 0, 0);
    if (signet_seize(self) == 0) {
      result = 'f';
    } else {
      int other = signet_bare_child();
      if (other == 0) {
        (void)signet_kernel(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0, 0);
        (void)signet_kernel(SYS_read, ready[0], (long)&byte, 1, 0, 0, 0);
        signet_kernel_exit(0);
      }
      if (other > 0) {
        if (signet_seize(other) == 0) result = 'h';
        signet_end_child(other);
      }
    }
    (void)signet_kernel(SYS_write, answer[1], (long)&result, 1, 0, 0, 0);
    signet_kernel_exit(0);
  }
  int outcome = -1;
  if (child > 0) {
    char byte = 0;
    // Where only parents may trace (Yama), this child may all the same. The kernel refuses where there is no Yama.
    (void)signet_kernel(SYS_prctl, 0x59616d61 /* PR_SET_PTRACER */, child, 0, 0, 0, 0);
    (void)signet_kernel(SYS_write, ready[1], (long)&byte, 1, 0, 0, 0);
    struct pollfd request = {answer[0], POLLIN, 0};
    struct timespec limit = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    long count;
    do count = signet_kernel(SYS_ppoll, (long)&request, 1, (long)&limit, 0, 8, 0);
    while (count == -EINTR);
    if (count == 1 && signet_kernel(SYS_read, answer[0], (long)&byte, 1, 0, 0, 0) == 1)
      outcome = byte == 'f' ? 0 : byte == 'h' ? 1 : -1;
    signet_end_child(child);
    (void)signet_kernel(SYS_prctl, 0x59616d61, 0, 0, 0, 0, 0);
  }
  signet_kernel_close(ready[0]), signet_kernel_close(ready[1]);
  signet_kernel_close(answer[0]), signet_kernel_close(answer[1]);
  return outcome;
}

// A copy of this process with one thread, in which functions of the C library work, as fork(2) says. It dies with its parent, writes
// no core, and has no file open but the standard ones and `kept`.
static inline int signet_guard_child(int kept) {
  int parent = getpid();
  int child = fork();
  if (child != 0) return child < 0 ? -errno : child;
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (getppid() != parent) signet_kernel_exit(0);
  // What hooks the crash of this program is not for the child's: it would write a report, or a core, of a copy with secrets.
  int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS, SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGCHLD};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) (void)signal(signals[i], SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  (void)sigprocmask(SIG_SETMASK, &none, NULL);
  (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#ifdef SYS_close_range
  if (kept > 3) (void)syscall(SYS_close_range, 3U, (unsigned)kept - 1, 0U);
  (void)syscall(SYS_close_range, (unsigned)kept + 1, ~0U, 0U);
#endif
  return 0;
}

// From now on, `numbers` are refused with EPERM to this process, all its threads and all that it starts; calls of another
// architecture than the program's too. Nobody can undo it, and no program gains rights any more by being started.
//
// 0, or the number of the error.
static inline int signet_refuse_calls(const unsigned *numbers, unsigned count) {
#if defined(__x86_64__)
  const unsigned architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
  const unsigned architecture = AUDIT_ARCH_AARCH64;
#else
  return ENOSYS;
#endif
#if defined(__x86_64__) || defined(__aarch64__)
  enum { most = 128 };
  if (count > most) return E2BIG;
  struct sock_filter code[most + 8];
  unsigned n = 0;
  const unsigned refused = SECCOMP_RET_ERRNO | EPERM;
  code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
  code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, architecture, 1, 0);
  code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, refused);
  code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  // The calls of x32 are those of x86-64 by other numbers.
  code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000U, (unsigned char)(count + 1), 0);
  for (unsigned i = 0; i < count; i++)
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, numbers[i], (unsigned char)(count - i), 0);
  code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, refused);
  struct sock_fprog program = {(unsigned short)n, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
  long result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
  return result == 0 ? 0 : result > 0 ? ESRCH : errno;
#endif
}

// pipe2(2), which no program started meanwhile inherits.
static inline int signet_pipe(int *ends) { return (int)signet_kernel(SYS_pipe2, (long)ends, O_CLOEXEC, 0, 0, 0, 0); }
