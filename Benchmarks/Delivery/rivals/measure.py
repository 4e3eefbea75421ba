"""Measures only the sending of a client."""
import time


class Sending:
    """Prints the accepted pushes, the elapsed seconds and the CPU seconds of the process."""

    def __enter__(self):
        self.accepted, self.start, self.used = 0, time.monotonic(), time.process_time()
        return self

    def __exit__(self, kind, error, trace):
        if kind is None:
            print(self.accepted, time.monotonic() - self.start, time.process_time() - self.used)
