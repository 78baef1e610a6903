#!/usr/bin/python3
"""Types at a program that has a terminal: typist.py PROGRAM… <script

The script's lines: `wait TEXT` until the program has written it, `type TEXT` (with Enter), `key C-c`, `size 40x100`, and
`hangup`: the terminal goes. What the program wrote is on standard output; the exit status is its own.
"""
import fcntl
import os
import pty
import select
import struct
import sys
import termios
import time

PATIENCE = 60


def resize(fd, text):
    rows, columns = text.split("x")
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", int(rows), int(columns), 0, 0))


def read(fd, seen):
    try:
        piece = os.read(fd, 65536)
    except OSError:
        piece = b""
    sys.stdout.buffer.write(piece)
    sys.stdout.flush()
    return seen + piece, bool(piece)


def wait_for(fd, seen, text):
    """What was written after TEXT."""
    end = time.monotonic() + PATIENCE
    while text not in seen:
        if not select.select([fd], [], [], max(0, end - time.monotonic()))[0]:
            sys.exit(f"typist: {text!r} does not come")
        seen, more = read(fd, seen)
        if not more and text not in seen:
            sys.exit(f"typist: it ended before {text!r}")
    return seen[seen.index(text) + len(text):]


def main():
    script = [line.rstrip("\n").split(" ", 1) for line in sys.stdin if line.strip()]
    pid, fd = pty.fork()
    if pid == 0:
        os.execvp(sys.argv[1], sys.argv[1:])
    resize(fd, "33x99")
    seen = b""
    for word, *rest in script:
        text = rest[0] if rest else ""
        if word == "wait":
            seen = wait_for(fd, seen, text.encode())
        elif word == "type":
            os.write(fd, text.encode() + b"\r")
        elif word == "key":
            os.write(fd, bytes([ord(text[-1]) & 31]))
        elif word == "size":
            resize(fd, text)
        elif word == "hangup":
            os.close(fd)
            fd = -1
    while fd >= 0 and read(fd, b"")[1]:
        pass
    status = os.waitpid(pid, 0)[1]
    sys.exit(os.waitstatus_to_exitcode(status) & 255)


main()
