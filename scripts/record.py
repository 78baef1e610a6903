#!/usr/bin/env python3
"""Records a real session of a terminal as an animated SVG:  scripts/record.py OUT.svg COMMAND…

Each COMMAND is run by sh on a pseudo-terminal of 96 x 22 characters; what it prints is played back at the speed at
which it came. Without animation (or with prefers-reduced-motion) the picture shows the last screen. It knows what dljob
writes (carriage return, erase to the end of the line, colours) and nothing else of a terminal.
"""
import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time
from html import escape

COLUMNS, ROWS = 96, 22
CELL, LINE = 8.0, 18  # pixels; textLength keeps the columns, whatever font there is
TICK = 0.12  # at most one frame in this time
TYPING, AFTER, LAST = 1.0, 0.6, 6.0  # seconds: a command is read; a command is over; before it begins anew
MAX_BYTES = 60_000
COLOURS = {31: "r", 32: "g", 33: "y", 34: "b", 35: "m", 36: "c"}
TOKEN = re.compile(r"\x1b\[([0-9;]*)([A-Za-z])|\r|\n|[^\x1b\r\n]+|\x1b")
STYLE = """text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#d0d7de;white-space:pre}
.p{fill:#7ee787;font-weight:bold}.w{fill:#fff;font-weight:bold}.d{fill:#8b949e}.r{fill:#ff7b72}.g{fill:#7ee787}
.y{fill:#e3b341}.b{fill:#79c0ff}.m{fill:#d2a8ff}.c{fill:#56d4dd}"""


class Screen:
    """Lines of (character, class); the last ROWS of them are seen."""

    def __init__(self):
        self.lines, self.column, self.style = [[]], 0, ""

    def put(self, text, style):
        line = self.lines[-1]
        for character in text:
            if self.column >= COLUMNS:
                self.lines.append([])
                line, self.column = self.lines[-1], 0
            line.extend([(" ", "")] * (self.column + 1 - len(line)))
            line[self.column] = (character, style)
            self.column += 1

    def write(self, text):
        for token in TOKEN.finditer(text):
            if token.group(2) == "K":
                del self.lines[-1][self.column:]
            elif token.group(2) == "m":
                for code in (token.group(1) or "0").split(";"):
                    self.style = "d" if code == "2" else COLOURS.get(int(code or 0), "")
            elif token.group() == "\r":
                self.column = 0
            elif token.group() == "\n":
                self.lines.append([])
            elif token.group()[0] != "\x1b":
                self.put(token.group(), self.style)

    def seen(self):
        rows = [tuple(line) for line in self.lines[-ROWS:]]
        return tuple(rows + [()] * (ROWS - len(rows)))


def run(command, show):
    """Runs it, and calls SHOW with what it prints and the seconds since the last call."""
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm-256color", LANG="C.UTF-8")
        os.execvp("sh", ["sh", "-c", command])
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    before, rest = time.monotonic(), b""
    while True:
        select.select([fd], [], [])
        try:
            got = os.read(fd, 65536)
        except OSError:
            got = b""
        if not got:
            break
        now = time.monotonic()
        # A character may be cut in two, and so may an escape sequence.
        whole, rest = rest + got, b""
        cut = max(whole.rfind(b"\x1b", -8), 0) if re.search(rb"\x1b\[?[0-9;]*$", whole[-8:]) else len(whole)
        whole, rest = whole[:cut], whole[cut:]
        show(whole.decode("utf-8", "replace"), now - before)
        before = now
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if status:
        sys.exit(f"record: status {status}: {command}")


def record(commands):
    """The frames: (second, what is seen)."""
    screen, frames, clock = Screen(), [], 0.0

    def frame():
        if frames and clock - frames[-1][0] < TICK:
            frames[-1] = (frames[-1][0], screen.seen())
        elif not frames or frames[-1][1] != screen.seen():
            frames.append((clock, screen.seen()))

    def show(text, seconds):
        nonlocal clock
        clock += seconds
        screen.write(text)
        frame()

    for command in commands:
        screen.put("$ ", "p")
        screen.put(command, "w")
        frame()
        screen.write("\r\n")
        clock += TYPING
        run(command.replace("dljob", os.environ.get("DLJOB", "build/dljob"), 1), show)
        clock += AFTER
    return frames, clock + LAST


def text_of(row):
    """A row as SVG: a tspan for each run of one colour."""
    spans, at = [], 0
    while at < len(row):
        end = at
        while end < len(row) and row[end][1] == row[at][1]:
            end += 1
        part, style = escape("".join(c for c, _ in row[at:end]), quote=False), row[at][1]
        spans.append(f'<tspan class="{style}">{part}</tspan>' if style else part)
        at = end
    return "".join(spans)


def picture(frames, seconds):
    width, height = COLUMNS * CELL + 24, ROWS * LINE + 20
    rows, strip, keys = {}, [], []
    for n, (at, seen) in enumerate(frames):
        uses = []
        for y, row in enumerate(seen):
            if row:
                name = rows.setdefault(row, f"r{len(rows)}")
                uses.append(f'<use href="#{name}" y="{y * LINE}"/>')
        strip.append(f'<g transform="translate(0 {n * height})">{"".join(uses)}</g>')
        keys.append(f"{100 * at / seconds:.2f}%{{transform:translateY({-n * height}px)}}")
    last = -(len(frames) - 1) * height
    keys.append(f"100%{{transform:translateY({last}px)}}")
    defs = "".join(
        f'<text id="{name}" textLength="{len(row) * CELL:g}" lengthAdjust="spacingAndGlyphs">{text_of(row)}</text>'
        for row, name in rows.items())
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height}" xml:space="preserve">
<style>{STYLE}
#film{{animation:play {seconds:.1f}s step-end infinite}}
@keyframes play{{{"".join(keys)}}}
@media(prefers-reduced-motion:reduce){{#film{{animation:none}}}}</style>
<rect width="100%" height="100%" rx="8" fill="#161b22"/>
<defs>{defs}</defs>
<g transform="translate(12 22)"><g id="film" transform="translate(0 {last})">{"".join(strip)}</g></g>
</svg>
"""


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    svg = picture(*record(sys.argv[2:]))
    if len(svg.encode()) > MAX_BYTES:
        sys.exit(f"record: {len(svg.encode())} bytes, more than {MAX_BYTES}")
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        out.write(svg)


main()
