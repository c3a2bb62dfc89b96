// Linked into `signet` only. Wipes freed memory: secrets pass through strings, JSON and buffers of libraries that nothing else can wipe
// (docs/decisions/0208).

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED  // It brings an allocator of its own.
#endif
#endif

#if defined(__linux__) && !defined(SANITIZED)

#include <malloc.h>
#include <string.h>

extern void *__libc_malloc(size_t);
extern void *__libc_realloc(void *, size_t);
extern void __libc_free(void *);

// The largest block, in bytes, of which the C library keeps some for a thread (its tcache).
enum { largest_kept = 1032 };

// Whether a block is a mapping of its own, which the kernel takes back as it is: a bit of the word before it (IS_MMAPPED in malloc.c).
static int is_mapping(void *block) { return (((size_t *)block)[-1] & 2) != 0; }

void free(void *block) {
  if (!block) return;
  if (!is_mapping(block)) {
    size_t count = malloc_usable_size(block), *words = block;
    // With the second word of a kept block the C library tells that it is freed twice. It writes there when it keeps one.
    size_t kept = words[1];
    explicit_bzero(block, count);
    if (count <= largest_kept) words[1] = kept;
  }
  __libc_free(block);
}

void *realloc(void *block, size_t count) {
  if (!block || is_mapping(block)) return __libc_realloc(block, count);
  if (count == 0) {
    free(block);
    return 0;
  }
  size_t old = malloc_usable_size(block);
  if (count <= old) {
    explicit_bzero((char *)block + count, old - count);
    return __libc_realloc(block, count);
  }
  void *larger = __libc_malloc(count);
  if (!larger) return 0;
  memcpy(larger, block, old);
  free(block);
  return larger;
}

#endif
