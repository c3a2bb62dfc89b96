"""Runs a command in real terminals, one after the other, and prints the rows of their screens: a line each, a JSON array.

usage: screen.py SCREEN[,SCREEN...] COMMAND [WORD...]

A screen is tmux:COLUMNS or pyte:COLUMNS. Where SCREEN_STOP is set, the command gets Ctrl-C once the rows, one behind the other, have that text: so a prompt can be looked at.

tmux has the widths of the C library and a table of its own, pyte those of wcwidth; both break a row that is full by themselves.
"""
import fcntl, json, os, pty, shlex, struct, subprocess, sys, tempfile, termios, time

screens, command = sys.argv[1].split(","), sys.argv[2:]
os.environ["TERM"] = "xterm"
END = "the screen ends here"
STOP = os.environ.pop("SCREEN_STOP", None)


class Stop:
    """Says once that what the command is to be ended at is there."""

    def __init__(self):
        self.text = STOP

    def is_due(self, rows):
        if not self.text or self.text not in "".join(row.rstrip() for row in rows):
            return False
        self.text = None
        return True


def in_pyte(columns):
    import pyte

    stop = Stop()
    screen = pyte.Screen(columns, 4000)
    stream = pyte.ByteStream(screen)
    pid, master = pty.fork()
    if pid == 0:
        # Waits until the window has its size.
        os.read(0, 1)
        os.execvp(command[0], command)
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    settings = termios.tcgetattr(master)
    settings[3] &= ~termios.ECHO
    termios.tcsetattr(master, termios.TCSANOW, settings)
    os.write(master, b"\n")

    def rows():
        # Those of `screen.display` that were written to; all 4,000 would take a third of a second.
        return ["".join(screen.buffer[y][x].data for x in range(columns)) for y in range(max(screen.buffer, default=-1) + 1)]

    while True:
        try:
            part = os.read(master, 65536)
        except OSError:  # EIO: the other side is closed
            break
        if not part:
            break
        stream.feed(part)
        if stop.text and stop.is_due(rows()):
            os.write(master, b"\x03")
    os.close(master)
    os.waitpid(pid, 0)
    return [row.rstrip() for row in rows()]


def in_tmux(columns):
    stop = Stop()
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        with open(f"{folder}/tmux.conf", "w") as file:
            file.write("set -g history-limit 20000\nset -g default-command ''\n")
        base = ["tmux", "-u", "-S", f"{folder}/s", "-f", f"{folder}/tmux.conf"]
        script = f"trap : INT; {shlex.join(command)}; printf '\\n%s\\n' {shlex.quote(END)}; read -r line"
        subprocess.run(base + ["new-session", "-d", "-x", str(columns), "-y", "50", "sh", "-c", script], check=True)
        try:
            # What ends the screen comes through the same pipe as what stands before it.
            for _ in range(6000):
                shown = subprocess.run(base + ["capture-pane", "-p", "-S", "-"], check=True, capture_output=True).stdout
                rows = shown.decode().split("\n")
                if END in rows:
                    return [row.rstrip() for row in rows[: rows.index(END)]]
                if stop.is_due(rows):
                    subprocess.run(base + ["send-keys", "C-c"], check=True)
                time.sleep(0.05)
            sys.exit("the command did not end in five minutes")
        finally:
            subprocess.run(base + ["kill-server"], capture_output=True)


def rows_of(screen):
    kind, columns = screen.split(":")
    rows = {"tmux": in_tmux, "pyte": in_pyte}[kind](int(columns))
    while rows and not rows[-1]:
        rows.pop()
    return rows


for screen in screens:
    print(json.dumps(rows_of(screen)))
