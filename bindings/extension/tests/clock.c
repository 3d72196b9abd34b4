/* A clock for tests, preloaded: stands still with CLOCK=frozen, loses an hour at every reading with CLOCK=backward. */

#include <stdlib.h>
#include <string.h>
#include <time.h>

int clock_gettime(clockid_t id, struct timespec *time) {
  static long readings;
  (void)id;
  time->tv_sec = 1700000000;
  time->tv_nsec = 0;
  if (strcmp(getenv("CLOCK"), "backward") == 0)
    time->tv_sec -= 3600 * __atomic_add_fetch(&readings, 1, __ATOMIC_RELAXED) % 1600000000;
  return 0;
}
