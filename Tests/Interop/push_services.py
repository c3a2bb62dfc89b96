"""Push services of the tests: an HTTP/2 server on 127.0.0.1 that answers as it is told and says what it was asked.

The command line has one JSON object: "certificate" and "key" (paths), and the public keys that requests are checked with.
Each line on standard input is a command, and is answered by one line:
  {"begin":true}                                     {"port":N}: listens there; what was before is closed and forgotten
  {"answer":{"status":N,"headers":{…},"body":"…"}}   the next request gets this answer; several wait in order
  {"requests":true}                                   what was asked since the last time
It ends with its standard input. Without orders a request gets 200, and 400 where what it must prove is not proved.
"""
import asyncio
import base64
import datetime
import hashlib
import json
import ssl
import sys
import urllib.parse

import h2.config
import h2.connection
import h2.events
import http_ece
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from http_message_signatures import HTTPMessageVerifier, HTTPSignatureKeyResolver, algorithms
from jwcrypto import jwk, jwt

setup = json.loads(sys.argv[1])


class Run:
    """What one test orders and asks for."""

    def __init__(self):
        self.answers, self.requests, self.connections, self.server = [], [], set(), None

    def close(self):
        if self.server:
            self.server.close()
        for connection in list(self.connections):
            connection.abort()


def unpadded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def claims(token, key, algorithm):
    verified = jwt.JWT(algs=[algorithm])
    verified.leeway = 10**10  # the clock of the tests stands still
    verified.deserialize(token, key)
    return json.loads(verified.header), json.loads(verified.claims)


def check_apns(headers, body):
    scheme, token = headers["authorization"].split(" ")
    assert scheme == "bearer"
    header, said = claims(token, jwk.JWK.from_pem(setup["apns"].encode()), "ES256")
    return {"header": header, "claims": said, "body": json.loads(body)}


def check_fcm(headers, body):
    scheme, token = headers["authorization"].split(" ")
    assert scheme == "Bearer"
    return {"token": token, "body": json.loads(body)}


def check_token(headers, body):
    form = urllib.parse.parse_qs(body.decode(), strict_parsing=True)
    assert form["grant_type"] == ["urn:ietf:params:oauth:grant-type:jwt-bearer"]
    header, said = claims(form["assertion"][0], jwk.JWK.from_pem(setup["fcm"].encode()), "RS256")
    return {"header": header, "claims": said}


def check_web_push(headers, body):
    scheme, rest = headers["authorization"].split(" ", 1)
    assert scheme == "vapid"
    parts = dict(part.strip().split("=", 1) for part in rest.split(","))
    point = unpadded(parts["k"])
    key = jwk.JWK(kty="EC", crv="P-256", x=base64.urlsafe_b64encode(point[1:33]).decode().rstrip("="),
                  y=base64.urlsafe_b64encode(point[33:]).decode().rstrip("="))
    header, said = claims(parts["t"], key, "ES256")
    private = ec.derive_private_key(int(setup["device"], 16), ec.SECP256R1())
    text = http_ece.decrypt(body, private_key=private, auth_secret=unpadded(setup["auth"]), version="aes128gcm")
    return {"key": parts["k"], "header": header, "claims": said, "message": text.decode()}


class Keys(HTTPSignatureKeyResolver):
    def resolve_public_key(self, key_id):
        assert key_id == "server-1"
        return load_pem_public_key(setup["webhook"].encode())


class Message:
    def __init__(self, url, headers, body):
        self.method, self.url, self.headers, self.body = "POST", url, headers, body


def check_webhook(url, headers, body):
    fields = {name: value for name, value in headers.items() if not name.startswith(":")}
    message = Message(url, fields, body)
    verifier = HTTPMessageVerifier(signature_algorithm=algorithms.ECDSA_P256_SHA256, key_resolver=Keys())
    results = verifier.verify(message, max_age=datetime.timedelta(days=36500))
    covered = sorted(results[0].covered_components)
    digest = base64.b64encode(hashlib.sha256(body).digest()).decode()
    assert fields["content-digest"] == f"sha-256=:{digest}:"
    return {"covered": covered, "body": json.loads(body)}


def check(headers, body):
    path = headers[":path"]
    if path.startswith("/3/device/"):
        return check_apns(headers, body)
    if path.startswith("/v1/projects/"):
        return check_fcm(headers, body)
    if path == "/token":
        return check_token(headers, body)
    if path.startswith("/push/"):
        return check_web_push(headers, body)
    return check_webhook(f"https://{headers[':authority']}{path}", headers, body)


class Service(asyncio.Protocol):
    def __init__(self, run):
        self.run = run

    def connection_lost(self, error):
        self.run.connections.discard(self.transport)

    def connection_made(self, transport):
        self.transport = transport
        self.run.connections.add(transport)
        self.protocol = transport.get_extra_info("ssl_object").selected_alpn_protocol()
        self.connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
        self.connection.initiate_connection()
        self.transport.write(self.connection.data_to_send())
        self.streams = {}

    def data_received(self, data):
        for event in self.connection.receive_data(data):
            if isinstance(event, h2.events.RequestReceived):
                headers = {name.decode(): value.decode() for name, value in event.headers}
                self.streams[event.stream_id] = (headers, bytearray())
            elif isinstance(event, h2.events.DataReceived):
                self.streams[event.stream_id][1].extend(event.data)
                self.connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            elif isinstance(event, h2.events.StreamEnded):
                self.answer(event.stream_id)
        self.transport.write(self.connection.data_to_send())

    def answer(self, stream):
        headers, body = self.streams.pop(stream)
        request = {"protocol": self.protocol, "headers": headers}
        reply = {"status": 200, "headers": {}, "body": ""}
        try:
            request["checked"] = check(headers, bytes(body))
            if headers[":path"] == "/token":
                reply["body"] = json.dumps({"access_token": f"token-{len(self.run.requests)}", "expires_in": 3599})
        except Exception as error:  # told to the test, which expects none
            request["error"] = f"{type(error).__name__}: {error}"
            reply["status"] = 400
        self.run.requests.append(request)
        if self.run.answers and headers[":path"] != "/token":
            reply = {**reply, "body": "", **self.run.answers.pop(0)}
        if reply["status"] == 0:  # break the stream off without an answer
            self.connection.reset_stream(stream, 2)
            return
        fields = [(":status", str(reply["status"]))] + list(reply["headers"].items())
        self.connection.send_headers(stream, fields, end_stream=not reply["body"])
        if reply["body"]:
            self.connection.send_data(stream, reply["body"].encode(), end_stream=True)


async def main():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(setup["certificate"], setup["key"])
    context.set_alpn_protocols(["h2"])
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    run = Run()
    print("{}", flush=True)  # the files are read
    while line := await reader.readline():
        command = json.loads(line)
        if "begin" in command:
            run.close()
            run = Run()
            run.server = await loop.create_server(lambda run=run: Service(run), "127.0.0.1", 0, ssl=context)
            answer = {"port": run.server.sockets[0].getsockname()[1]}
        elif "answer" in command:
            run.answers.append(command["answer"])
            answer = {"waiting": len(run.answers)}
        else:
            answer = {"requests": run.requests}
            run.requests = []
        print(json.dumps(answer), flush=True)
    run.close()


asyncio.run(main())
