"""Clients that nobody wants, for a server on loopback; needs nothing but the standard library.

    flood.py PORT CA silent|trickle|garbage ADDRESS...

Each address is the local one of a host. `silent` and `trickle` open 64 connections from each and say "ready"; silent ones
end in the middle of a request (a third of them), say nothing, or end in the middle of a handshake; trickling ones send a byte
of a request every now and then. `garbage` sends what is no request, no TLS, or a request for nothing, as fast as it goes, from a
process for each address. They end when they can read anything, and print what they saw as a JSON object.
"""
import json, multiprocessing, os, random, re, select, socket, ssl, sys, time

PORT, CA, MODE, ADDRESSES = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4:]
CONTEXT = ssl.create_default_context(cafile=CA)
LEAST = 1000  # pieces of garbage, of each process
LIMIT = 120  # seconds for one step of a connection: only a server that does nothing takes them
HEAD = b"GET /main/v1/live HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Padding: "

def connect(address):
    connection = socket.create_connection(("127.0.0.1", PORT), timeout=LIMIT, source_address=(address, 0))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection

def secured(address):
    return CONTEXT.wrap_socket(connect(address), server_hostname="127.0.0.1")

def has_closed(connection):
    """Reads what there is; true at the end."""
    try:
        connection.setblocking(False)
        while connection.recv(4096):
            pass
        return True
    except (ssl.SSLWantReadError, BlockingIOError):
        return False
    except OSError:
        return True

def is_told_to_end(seconds):
    return bool(select.select([sys.stdin], [], [], seconds)[0])

def occupy(begin, keep):
    """Holds connections; ends early when the server has closed all of them."""
    held, refused, kept = [], 0, time.monotonic()
    for number in range(64):
        for address in ADDRESSES:
            try:
                held.append(begin(address, number))
            except OSError:
                refused += 1
        # However long it takes to open all of them, none falls idle.
        if time.monotonic() > kept + 2:
            keep_all(held, keep)
            kept = time.monotonic()
    print("ready", flush=True)
    opened, closed = len(held), 0
    while True:
        ended = is_told_to_end(0.5)
        still = [one for one in held if not has_closed(one)]
        closed += len(held) - len(still)
        held = still
        if not held and MODE == "silent":
            break
        keep_all(held, keep)
        if ended:
            break
    print(json.dumps({"opened": opened, "refused": refused, "closed": closed}), flush=True)

def keep_all(held, keep):
    for one in held:
        try:
            keep(one)
        except OSError:
            pass

def silent(address, number):
    if number < 21:
        # First what takes long: however busy the machine is, the others are open together.
        begun = secured(address)
        begun.sendall(HEAD)
        return begun
    begun = connect(address)
    if number >= 43:
        begun.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")  # a ClientHello begins
    return begun

def trickle(address, number):
    begun = secured(address) if number % 2 else connect(address)
    if number % 2:
        begun.sendall(HEAD)
    else:
        begun.sendall(b"\x16\x03\x01\x40\x00")
    return begun

def requests(chance):
    """Fifty requests for nothing, in one piece."""
    parts = []
    for _ in range(50):
        path = "".join(chance.choice("abcdef0123456789%2F/._~") for _ in range(chance.randrange(40))).rstrip("%2F")
        kind = chance.randrange(4)
        if kind == 0:
            parts.append(f"GET /main/v1/nothing/{path.replace('%', '')} HTTP/1.1\r\nHost: h\r\n\r\n")
        elif kind == 1:
            body = "".join(chance.choice('{}[]",:0aé') for _ in range(chance.randrange(200)))
            parts.append(f"POST /main/v1/otp/validate HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
                         f"Authorization: Bearer signet_0_{chance.random()}\r\n"
                         f"Content-Length: {len(body.encode())}\r\n\r\n{body}")
        elif kind == 2:
            parts.append("POST /main/v1/activation/start HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
                         "Content-Length: 2\r\n\r\n{}")
        else:
            parts.append("BREW /main/v1/live HTTP/1.1\r\nHost: h\r\nAuthorization: Signet a.b.c\r\n\r\n")
    return "".join(parts).encode()

STATUSES = [str(status) for status in (200, 400, 401, 403, 404, 405, 411, 413, 415, 429, 500, 503)]
MARKS = {status: b"HTTP/1.1 " + status.encode() for status in STATUSES}

def count(connection, wanted, seen):
    """Counts the statuses of so many answers, or until the end."""
    rest, found = b"", 0
    while found < wanted:
        try:
            piece = connection.recv(1 << 16)
        except OSError:
            break
        if not piece:
            break
        # A status line may be cut; one that is whole is longer than what is kept, so none is counted twice.
        text = rest + piece
        known = 0
        for status, mark in MARKS.items():
            number = text.count(mark)
            if number:
                seen[status] = seen.get(status, 0) + number
                known += number
        others = len(re.findall(rb"HTTP/1\.1 \d{3}", text)) - known if text.count(b"HTTP/1.1 ") > known else 0
        if others:
            seen["other"] = seen.get("other", 0) + others
        found += known + others
        rest = text[-11:]
    return found

def garbage(address, flood, ending, results):
    chance, seen, sent = random.Random(address), {}, 0
    prepared, began = [requests(chance) for _ in range(20)], time.monotonic()
    # Where the flood was killed, nobody says that this is to end.
    while (sent < LEAST or not ending.is_set()) and os.getppid() == flood:
        try:
            kind = chance.randrange(20)
            if kind == 0:  # no TLS
                with connect(address) as one:
                    one.sendall(chance.randbytes(chance.randrange(1, 400)))
                    sent += 1
            elif kind == 1:  # TLS, and no HTTP
                with secured(address) as one:
                    one.sendall(chance.randbytes(chance.randrange(1, 400)) + b"\r\n\r\n")
                    sent += 1
            else:
                with secured(address) as one:
                    for piece in prepared:
                        one.sendall(piece)
                        sent += 50
                        if count(one, 50, seen) < 50 or sent >= LEAST and ending.is_set():
                            break
        except OSError:
            pass
    results.put({"sent": sent, "seen": seen, "seconds": time.monotonic() - began})

def flood():
    ending, results = multiprocessing.Event(), multiprocessing.Queue()
    processes = [multiprocessing.Process(target=garbage, args=(one, os.getpid(), ending, results))
                 for one in ADDRESSES]
    for process in processes:
        process.start()
    print("ready", flush=True)
    while not is_told_to_end(1):
        pass
    ending.set()
    found = [results.get() for _ in processes]
    for process in processes:
        process.join()
    seen = {}
    for one in found:
        for status, number in one["seen"].items():
            seen[status] = seen.get(status, 0) + number
    print(json.dumps({"sent": sum(one["sent"] for one in found), "seen": seen,
                      "rate": int(sum(one["sent"] / one["seconds"] for one in found))}), flush=True)

def send_byte(connection):
    connection.setblocking(True)
    connection.settimeout(5)
    connection.send(b"x")

if __name__ == "__main__":
    {"silent": lambda: occupy(silent, lambda one: None), "trickle": lambda: occupy(trickle, send_byte),
     "garbage": flood}[MODE]()
