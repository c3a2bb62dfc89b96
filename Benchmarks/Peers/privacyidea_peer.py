"""privacyIDEA: a server of its own with HOTP tokens in SQLite, and a load that sends each of them fresh codes.

It runs in the Python environment of privacyIDEA, which has gunicorn beside it. The server has two workers, its documented settings for
speed (it still signs its audit log and its answers), a database with a write-ahead log, and no TLS, all in its favour.

    privacyidea_peer.py FOLDER

says "privacyIDEA VERSION" when it is ready. Then each line is a number of seconds of load at eight connections, and is answered with
the validations per second. It ends when its input does.
"""

import hashlib
import hmac
import importlib.metadata
import os
import pathlib
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time

WORKERS = 2
CONNECTIONS = 8
TOKENS = 200  # each is used once a second or less, and its tables are in memory: many more would only be slower

folder = pathlib.Path(sys.argv[1]).resolve()
programs = pathlib.Path(sys.executable).parent
configuration = folder / "pi.cfg"
environment = dict(os.environ, PRIVACYIDEA_CONFIGFILE=str(configuration))
os.environ.update(environment)


def quiet(*command):
    done = subprocess.run(command, env=environment, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed: {done.stderr[-500:]}")


def key(token):
    return hashlib.sha256(b"benchmark token %d" % token).digest()[:20]


def code(token, counter):
    """RFC 4226."""
    digest = hmac.digest(key(token), counter.to_bytes(8, "big"), "sha1")
    offset = digest[-1] & 15
    return f"{(int.from_bytes(digest[offset : offset + 4], 'big') & 0x7FFFFFFF) % 1_000_000:06}"


def prepare():
    folder.mkdir(parents=True, exist_ok=True)
    configuration.write_text(
        f"""import logging
SQLALCHEMY_DATABASE_URI = 'sqlite:///{folder}/data.sqlite'
SECRET_KEY = PI_PEPPER = 'a benchmark keeps no secrets'
PI_ENCFILE = '{folder}/enckey'
PI_AUDIT_KEY_PRIVATE = '{folder}/private.pem'
PI_AUDIT_KEY_PUBLIC = '{folder}/public.pem'
PI_LOGFILE = '{folder}/privacyidea.log'
PI_UUID_FILE = '{folder}/uuid.txt'
PI_LOGLEVEL = logging.WARNING
PI_AUDIT_NO_PRIVATE_KEY_CHECK = PI_RESPONSE_NO_PRIVATE_KEY_CHECK = True
PI_ENGINE_REGISTRY_CLASS = 'shared'
PI_CHECK_RELOAD_CONFIG = 30
SUPERUSER_REALM = ['super']
"""
    )
    (folder / "server.py").write_text(
        "from privacyidea.app import create_app\n"
        f"application = create_app(config_name='production', config_file='{configuration}', silent=True)\n"
    )
    for step in ("create_enckey", "create_audit_keys", "create_tables"):
        quiet(programs / "pi-manage", "setup", step)
    with sqlite3.connect(folder / "data.sqlite") as database:
        database.execute("PRAGMA journal_mode=WAL")

    from privacyidea.app import create_app
    from privacyidea.lib.token import init_token

    application = create_app("production", str(configuration), silent=True, initialize_hsm=True)
    with application.app_context():
        for token in range(TOKENS):
            init_token({"type": "hotp", "serial": f"B{token}", "otpkey": key(token).hex(), "otplen": 6, "hashlib": "sha1", "genkey": 0})


class Load:
    """Sends codes; each connection has tokens of its own, so that the codes of each arrive in order."""

    def __init__(self, port):
        self.port = port
        self.counters = [0] * TOKENS

    def run(self, seconds):
        """Validations per second."""
        counts, failures = [0] * CONNECTIONS, []
        start = time.monotonic()

        def work(number):
            try:
                token = number
                while time.monotonic() - start < seconds:
                    self.validate(token)
                    counts[number] += 1
                    token = token + CONNECTIONS if token + CONNECTIONS < TOKENS else number
            except Exception as failure:
                failures.append(failure)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(CONNECTIONS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            sys.exit(f"a validation failed: {failures[0]}")
        return sum(counts) / (time.monotonic() - start)

    def validate(self, token):
        counter, self.counters[token] = self.counters[token], self.counters[token] + 1
        body = f"serial=B{token}&pass={code(token, counter)}"
        # The workers close a connection after each answer.
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as connection:
            connection.sendall(
                f"POST /validate/check HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\n"
                f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}".encode()
            )
            answer = b""
            while part := connection.recv(65536):
                answer += part
        if not answer.startswith(b"HTTP/1.1 200") or b'"value": true' not in answer:
            raise ValueError(f"code {counter} of token {token}: {answer[-300:]!r}")


# Whoever started this may have signals blocked; gunicorn and its workers would inherit that, and never end.
signal.pthread_sigmask(signal.SIG_SETMASK, [])
prepare()
with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
    command = [programs / "gunicorn", "--workers", str(WORKERS), "--bind", f"fd://{listener.fileno()}", "--log-level", "warning"]
    server = subprocess.Popen(
        [*command, "server:application"], env=environment, cwd=folder, pass_fds=[listener.fileno()], stdin=subprocess.DEVNULL, stdout=sys.stderr
    )
    port = listener.getsockname()[1]
try:
    load = Load(port)
    load.run(2)  # warms up
    print("privacyIDEA", importlib.metadata.version("privacyidea"), flush=True)
    for line in sys.stdin:
        print(load.run(float(line)), flush=True)
finally:
    server.terminate()
    try:
        server.wait(timeout=20)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
