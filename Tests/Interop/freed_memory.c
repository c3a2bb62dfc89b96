// Frees blocks that hold a text and says of each whether the text is still where it was. With an argument it frees a block twice.
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char text[] = "JBSWY3DPEHPK3PXP";

static void say(const char *name, volatile char *place) {
  int same = 1;
  for (size_t i = 0; i < sizeof text; i++) same &= place[i] == text[i];
  printf("%s: %s\n", name, same ? "left" : "wiped");
}

static void *freed(void *size) {
  size_t count = (size_t)size;
  char name[40], *block = malloc(count);
  volatile char *place = block + count - 20;
  memcpy((char *)place, text, sizeof text);
  // A mapping of its own is gone when it is freed.
  int is_mapping = (((size_t *)block)[-1] & 2) != 0;
  snprintf(name, sizeof name, "%zu", count);
  free(block);
  if (is_mapping) printf("%s: mapping\n", name);
  else say(name, place);
  return 0;
}

int main(int count, char **words) {
  (void)words;
  if (count > 1) {
    void *volatile block = malloc(100);
    free(block);
    free(block);
    return 0;
  }
  // The heap has room for the first one.
  freed((void *)131136);
  for (size_t size = 40; size < 1 << 20; size *= 5) freed((void *)size);
  pthread_t thread;
  pthread_create(&thread, 0, freed, (void *)131200);
  pthread_join(thread, 0);

  char *block = malloc(4000);
  memcpy(block + 3000, text, sizeof text);
  char *larger = realloc(block, 9000);
  if (memcmp(larger + 3000, text, sizeof text)) return 2;
  if (larger != block) say("moved", block + 3000);
  memcpy(larger + 6000, text, sizeof text);
  char *smaller = realloc(larger, 5000);
  say("cut", smaller + 6000);
  free(smaller);
  return 0;
}
