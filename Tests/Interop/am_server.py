"""An access-management server of the tests that speaks the push protocol of authenticator apps; Python's standard library only.

The command line has one JSON object: "certificate" and "key" (paths). Standard output begins with {"port":N}. Each line on
standard input is a command, answered by one line:
  {"enrol":{"scheme":"mfauth","issuer":"…","account":"…","policies":{…}}}   {"uri":"…","messageId":"…"}
  {"message":{"mechanism":"…","kind":"default","numbers":[…],"right":N,"text":"…"}}   {"messageId":"…","data":"…"}
  {"state":"<message id or mechanism>"}                                     what is known of it
  {"fail":N}                                                                the next N requests are answered by 503
  {"hold":"before"}  or "after": the next request is not answered, before or after it was taken; {"held":null} waits until it has
                     come and says {"action":"…"}, {"release":"break"} breaks it off, {"release":"answer"} answers it
  {"forge":{"mechanism":"…","key":"other","header":{…},"claims":{…}}}       a message with other parts than it should have;
                     claims that are null are left out
It ends with its standard input.
"""
import base64
import hashlib
import hmac
import http.server
import json
import os
import ssl
import sys
import threading
import time
import urllib.parse

setup = json.loads(sys.argv[1])
registrations, mechanisms, messages = {}, {}, {}
failing = [0]
holding = [None]
held, released = threading.Event(), threading.Event()


def std(data):
    return base64.b64encode(data).decode()


def url(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def unpad(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def sign(claims, secret):
    head = url(b'{"typ":"JWT","alg":"HS256"}') + "." + url(json.dumps(claims).encode())
    return head + "." + url(hmac.new(secret, head.encode(), hashlib.sha256).digest())


def verify(token, secret):
    head, body, signature = token.split(".")
    assert json.loads(unpad(head))["alg"] == "HS256" and json.loads(unpad(head))["typ"] == "JWT"
    expected = hmac.new(secret, f"{head}.{body}".encode(), hashlib.sha256).digest()
    assert hmac.compare_digest(expected, unpad(signature)), "signature"
    return json.loads(unpad(body))


def check_response(claims, secret, challenge):
    expected = std(hmac.new(secret, challenge, hashlib.sha256).digest())
    assert hmac.compare_digest(expected, claims["response"]), "response"


def register(body):
    registration = registrations[body["messageId"]]
    claims = verify(body["jwt"], registration["secret"])
    check_response(claims, registration["secret"], registration["challenge"])
    assert claims["deviceType"] in ("ios", "android") and claims["communicationType"] in ("apns", "gcm")
    del registrations[body["messageId"]]
    mechanisms[claims["mechanismUid"]] = dict(registration, device=claims["deviceId"], name=claims["deviceName"])


def authenticate(body):
    message = messages[body["messageId"]]
    assert message["state"] == "pending"
    secret = mechanisms[message["mechanism"]]["secret"]
    claims = verify(body["jwt"], secret)
    check_response(claims, secret, message["challenge"])
    if claims.get("deny"):
        message["state"] = "denied"
        return
    assert set(claims) <= {"response", "challengeResponse"}
    if message["kind"] == "challenge":
        assert claims["challengeResponse"] == str(message["right"]), "number"
    message["state"] = "approved"


def refresh(body):
    mechanism = mechanisms[body["mechanismUid"]]
    claims = verify(body["jwt"], mechanism["secret"])
    assert claims["mechanismUid"] == body["mechanismUid"] and body.get("username", "demo") == "demo"
    mechanism["device"] = claims["deviceId"]


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status, answer = 200, {}
        try:
            assert self.headers["accept-api-version"] == "resource=1.0, protocol=1.0"
            assert self.headers["Content-Type"] == "application/json"
            assert self.headers["Cookie"] == "amlbcookie=01", "cookie"
            path = urllib.parse.urlsplit(self.path)
            assert path.path == "/openam/json/push/sns/message"
            action = urllib.parse.parse_qs(path.query)["_action"]
            moment, holding[0] = holding[0], None
            if failing[0]:
                failing[0] -= 1
                status = 503
            elif moment != "before":
                {"register": register, "authenticate": authenticate, "refresh": refresh}[action[0]](json.loads(body))
            if moment:
                held.action = action[0]
                held.set()
                released.wait()
                if released.way == "break":
                    self.close_connection = True
                    return
        except Exception as failure:
            status, answer = 400, {"code": 400, "reason": "Bad Request", "message": repr(failure)}
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(setup["certificate"], setup["key"])
server.socket = context.wrap_socket(server.socket, server_side=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
base = f"https://127.0.0.1:{server.server_port}/openam/json/push/sns/message?_action="


def enrol(order):
    secret, challenge, number = os.urandom(32), os.urandom(32), f"REGISTER:{url(os.urandom(8))}"
    registrations[number] = {"secret": secret, "challenge": challenge}
    scheme, host = order["scheme"], "push" if order["scheme"] == "pushauth" else "totp"
    query = {"r": url((base + "register").encode()), "a": url((base + "authenticate").encode()), "s": url(secret),
             "c": url(challenge), "l": std(b"amlbcookie=01"), "m": number, "issuer": std(order["issuer"].encode()),
             "b": "519387"}
    if scheme == "mfauth":
        query |= {"secret": base64.b32encode(b"12345678901234567890").decode(), "digits": "8", "period": "30"}
    if "policies" in order:
        query["policies"] = url(json.dumps(order["policies"]).encode())
    label = urllib.parse.quote(order["issuer"]) + ":" + urllib.parse.quote(order["account"])
    return {"uri": f"{scheme}://{host}/{label}?" + urllib.parse.urlencode(query), "messageId": number}


def forge(order):
    claims = {"c": std(b"challenge"), "l": std(b"amlbcookie=01"), "t": "120", "u": order["mechanism"], "k": "default",
              "d": "demo"}
    claims |= order.get("claims", {})
    claims = {name: value for name, value in claims.items() if value is not None}
    secret = os.urandom(32) if order.get("key") == "other" else mechanisms[order["mechanism"]]["secret"]
    head = url(json.dumps(order.get("header", {"alg": "HS256", "typ": "JWT"})).encode())
    signed = head + "." + url(json.dumps(claims).encode())
    digest = {"HS512": hashlib.sha512}.get(order.get("header", {}).get("alg"), hashlib.sha256)
    return {"messageId": f"AUTHENTICATE:{url(os.urandom(8))}",
            "data": signed + "." + url(hmac.new(secret, signed.encode(), digest).digest())}


def message(order):
    challenge, number = os.urandom(32), f"AUTHENTICATE:{url(os.urandom(8))}"
    messages[number] = {"mechanism": order["mechanism"], "challenge": challenge, "kind": order["kind"],
                        "right": order.get("right"), "state": "pending"}
    claims = {"c": std(challenge), "l": std(b"amlbcookie=01"), "t": "120", "u": order["mechanism"], "k": order["kind"],
              "i": str(int(time.time() * 1000)), "m": order.get("text", ""), "d": order.get("user", "demo")}
    for name, member in (("x", "context"), ("p", "payload")):
        if member in order:
            claims[name] = order[member]
    if "numbers" in order:
        claims["n"] = ", ".join(map(str, order["numbers"]))
    return {"messageId": number, "data": sign(claims, mechanisms[order["mechanism"]]["secret"])}


def state(name):
    if name in messages:
        return {"state": messages[name]["state"]}
    if name in mechanisms:
        return {"device": mechanisms[name]["device"], "name": mechanisms[name]["name"]}
    return {"mechanisms": list(mechanisms)}


print(json.dumps({"port": server.server_port}), flush=True)
for line in sys.stdin:
    command, value = next(iter(json.loads(line).items()))
    if command == "fail":
        failing[0] = value
        print("{}", flush=True)
    elif command == "hold":
        held.clear()
        released.clear()
        holding[0] = value
        print("{}", flush=True)
    elif command == "held":
        held.wait(60)
        print(json.dumps({"action": held.action}), flush=True)
    elif command == "release":
        released.way = value
        released.set()
        print("{}", flush=True)
    else:
        print(json.dumps({"enrol": enrol, "forge": forge, "message": message, "state": state}[command](value)), flush=True)
