"""Writes a password to a program in two parts, through a non-blocking pipe.

Arguments: PROGRAM ARGUMENT...
"""

import fcntl
import os
import struct
import subprocess
import sys
import termios

reading, writing = os.pipe()
os.set_blocking(reading, False)
os.write(writing, b"sec")
program = subprocess.Popen(sys.argv[1:], stdin=reading)


def unread():
    return struct.unpack("i", fcntl.ioctl(writing, termios.FIONREAD, struct.pack("i", 0)))[0]


# Wait until the program has read the first part. A program that takes this part for the whole password exits.
while unread() and program.poll() is None:
    os.sched_yield()
try:
    program.wait(timeout=0.5)
except subprocess.TimeoutExpired:
    os.write(writing, b"ret\n")
sys.exit(program.wait())
