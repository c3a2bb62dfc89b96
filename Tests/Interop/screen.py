"""Runs a command in a real terminal of a certain width and prints the rows of its screen as JSON.

usage: screen.py tmux|pyte COLUMNS COMMAND [WORD...]

Where SCREEN_STOP is set, the command gets Ctrl-C once the rows, one behind the other, have that text: so a prompt can be looked at.

tmux has the widths of the C library and a table of its own, pyte those of wcwidth; both break a row that is full by themselves.
"""
import fcntl, json, os, pty, shlex, struct, subprocess, sys, tempfile, termios, time

kind, columns, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
os.environ["TERM"] = "xterm"
END = "the screen ends here"
STOP = os.environ.pop("SCREEN_STOP", None)


def is_over(rows):
    """Whether what the command is to be ended at is there; true once."""
    global STOP
    if not STOP or STOP not in "".join(row.rstrip() for row in rows):
        return False
    STOP = None
    return True


def in_pyte():
    import pyte

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
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:  # EIO: the other side is closed
            break
        if not part:
            break
        stream.feed(part)
        if is_over(screen.display):
            os.write(master, b"\x03")
    os.waitpid(pid, 0)
    return [row.rstrip() for row in screen.display]


def in_tmux():
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
                if is_over(rows):
                    subprocess.run(base + ["send-keys", "C-c"], check=True)
                time.sleep(0.05)
            sys.exit("the command did not end in five minutes")
        finally:
            subprocess.run(base + ["kill-server"], capture_output=True)


rows = in_tmux() if kind == "tmux" else in_pyte()
while rows and not rows[-1]:
    rows.pop()
print(json.dumps(rows))
