"""Whether processors are idle, by the counters of Linux."""

import os
import pathlib
import time

# How long a new job has before it is judged whether there is room for another one.
WINDOW_SECONDS = 2
# More than this share of the processors' time was idle: the work of half a processor of two fits in.
SHARE_MIN = 0.25
STAT = pathlib.Path("/proc/stat")


class Idle:
    def __init__(self):
        self.last = self.read()

    def is_idle(self):
        """Whether there is room for another job. Says so at most once per window, so that the counters show that job first."""
        now = self.read()
        (began, idle_before), (ends, idle) = self.last, now
        if ends - began < WINDOW_SECONDS:
            return False
        self.last = now
        return idle - idle_before > SHARE_MIN * (ends - began)

    @staticmethod
    def read():
        """The time, and the mean of the seconds for which each processor of this process was idle, or waited for a disk."""
        cores = {f"cpu{number}" for number in os.sched_getaffinity(0)}
        try:
            lines = [line.split() for line in STAT.read_text().splitlines()]
        except OSError:
            lines = []
        ticks = sum(int(words[4]) + int(words[5]) for words in lines if words[0] in cores)
        return time.monotonic(), ticks / os.sysconf("SC_CLK_TCK") / len(cores)
