"""Sends bytes to a server on loopback over TLS, and says what came back; needs nothing but the standard library.

    raw.py PORT CA < [{"send": TEXT, "times": N}, …] > [TEXT, …]

Each text is sent over a connection of its own, `times` times in one piece, byte for byte (Latin-1). The answer is everything that
the server sends until it closes; of a text that is sent more than once, the statuses of the answers and how many there were.
"""
import json, re, socket, ssl, sys

PORT, CA = int(sys.argv[1]), sys.argv[2]
CONTEXT = ssl.create_default_context(cafile=CA)
CONTEXT.suppress_ragged_eofs = True

def exchange(text, times):
    raw = socket.create_connection(("127.0.0.1", PORT), timeout=300)
    stream = CONTEXT.wrap_socket(raw, server_hostname="127.0.0.1")
    answer, asked = b"", 0
    while asked < times:
        piece = min(50, times - asked)
        try:
            stream.sendall(text.encode("latin-1") * piece)
        except OSError:
            pass  # the server has answered, and closed before it had all
        asked += piece
        while times == 1 or len(re.findall(rb"HTTP/1\.1 \d{3}", answer)) < asked or not answer.endswith(b"}"):
            try:
                got = stream.recv(1 << 16)
            except OSError:
                got = b""
            if not got:
                return answer
            answer += got
    stream.close()
    statuses = re.findall(rb"HTTP/1\.1 (\d{3})", answer)
    return b", ".join(b"%s %d" % (one, statuses.count(one)) for one in sorted(set(statuses)))

print(json.dumps([exchange(one["send"], one.get("times", 1)).decode("latin-1") for one in json.load(sys.stdin)]))
