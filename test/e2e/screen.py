#!/usr/bin/python3
"""What a terminal shows in the end of what was written to it: screen.py <BYTES

It knows what dljob uses: carriage return, newline, cursor up, erasing of a line and of the screen below, colours. Anything
else is an error: no program's own sequence may come through.
"""
import re
import sys

text = sys.stdin.buffer.read().decode()
rows, row, column = [""], 0, 0
for piece in re.findall(r"\033\[[0-9;]*[A-Za-z]|[^\033]|\033", text):
    if piece == "\r":
        column = 0
    elif piece == "\n":
        row += 1
        if row == len(rows):
            rows.append("")
    elif re.fullmatch(r"\033\[(0|2|3[0-9]|9[0-9])?m", piece):
        pass
    elif piece == "\033[K":
        rows[row] = rows[row][:column]
    elif piece == "\033[J":
        del rows[row + 1:]
        rows[row] = rows[row][:column]
    elif re.fullmatch(r"\033\[[0-9]+A", piece):
        row -= int(piece[2:-1])
    elif piece >= " ":
        rows[row] = rows[row][:column].ljust(column) + piece + rows[row][column + 1:]
        column += 1
    else:
        sys.exit(f"screen: {piece!r}")
print("\n".join(line.rstrip() for line in rows).rstrip("\n"))
