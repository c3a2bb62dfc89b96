"""An authenticator app of the tests that speaks the push protocol as existing apps do; Python's standard library only.

The command line has one JSON object: "authority" (a path), "deviceName" (where the device has another name than Test phone).
Standard output begins with {}. Each line on standard input is a command, answered by one line with the "status" and the "body" of
what the server said:
  {"enrol":"pushauth://…"}  or mfauth                               also "mechanism"
  {"code":N}                                                        {"code":"…"}: the one-time code for N, in seconds since 1970
  {"answer":{"messageId":"…","data":"…","deny":true,"number":"…"}}  also "claims" of the message
  {"refresh":{"token":"…","newer":true}}
It ends with its standard input.
"""
import base64
import hashlib
import hmac
import json
import ssl
import struct
import sys
import urllib.error
import urllib.parse
import urllib.request
import uuid

setup = json.loads(sys.argv[1])
context = ssl.create_default_context(cafile=setup["authority"])
app = {}


def unpad(text):
    text = text.replace("+", "-").replace("/", "_").rstrip("=")
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def url(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def sign(claims):
    head = url(b'{"alg":"HS256","typ":"JWT"}') + "." + url(json.dumps(claims).encode())
    return head + "." + url(hmac.new(app["s"], head.encode(), hashlib.sha256).digest())


def response(challenge):
    return base64.b64encode(hmac.new(app["s"], challenge, hashlib.sha256).digest()).decode()


def post(endpoint, body):
    # The older apps send the cookie under this name, and say who they are.
    headers = {"Content-Type": "application/json", "accept-api-version": "resource=1.0, protocol=1.0",
               "x-requested-with": "forgerock-sdk", "x-requested-platform": "ios", "Set-Cookie": app["l"]}
    request = urllib.request.Request(endpoint, json.dumps(body).encode(), headers, method="POST")
    try:
        with urllib.request.urlopen(request, context=context) as answer:
            return {"status": answer.status, "body": json.loads(answer.read())}
    except urllib.error.HTTPError as failure:
        return {"status": failure.code, "body": json.loads(failure.read())}


def device(token):
    return {"deviceId": token, "deviceName": setup.get("deviceName", "Test phone"), "deviceType": "ios",
            "communicationType": "apns"}


def enrol(text):
    parts = urllib.parse.urlsplit(text)
    assert (parts.scheme, parts.netloc) in (("pushauth", "push"), ("mfauth", "totp"))
    query = dict(urllib.parse.parse_qsl(parts.query))
    if parts.scheme == "mfauth":
        text = query["secret"].upper()
        app.update(secret=base64.b32decode(text + "=" * (-len(text) % 8)), digits=int(query.get("digits", 6)),
                   period=int(query.get("period", 30)), hash=getattr(hashlib, query.get("algorithm", "SHA1").lower()))
    # Each kind of app reads its own names.
    assert query["uid"] == query["d"] and query["pid"]
    if "policies" in query:
        assert isinstance(json.loads(base64.b64decode(query["policies"])), dict)
    app.update(r=unpad(query["r"]).decode(), a=unpad(query["a"]).decode(), s=unpad(query["s"]),
               l=unpad(query["l"]).decode(), issuer=unpad(query["issuer"]).decode())
    app.setdefault("mechanism", str(uuid.uuid4()).upper())
    label = urllib.parse.unquote(parts.path[1:])
    assert ":" in label
    claims = {"response": response(unpad(query["c"])), "mechanismUid": app["mechanism"], **device("AABB01")}
    said = post(app["r"], {"messageId": query["m"], "jwt": sign(claims)})
    return {**said, "mechanism": app["mechanism"], "issuer": app["issuer"], "account": label.split(":", 1)[1]}


def code(time):
    digest = hmac.new(app["secret"], struct.pack(">Q", time // app["period"]), app["hash"]).digest()
    offset = digest[-1] & 15
    number = struct.unpack(">I", digest[offset:offset + 4])[0] & 0x7FFFFFFF
    return {"code": str(number % 10 ** app["digits"]).zfill(app["digits"])}


def answer(order):
    head, body, signature = order["data"].split(".")
    expected = hmac.new(app["s"], f"{head}.{body}".encode(), hashlib.sha256).digest()
    assert hmac.compare_digest(expected, unpad(signature)) and json.loads(unpad(head)) == {"alg": "HS256", "typ": "JWT"}
    claims = json.loads(unpad(body))
    for name in ("c", "l", "t", "u"):
        assert isinstance(claims[name], str), name
    assert claims["u"] == app["mechanism"] and float(claims["t"]) > 0
    mine = {"response": response(base64.b64decode(claims["c"]))}
    if order.get("deny"):
        mine["deny"] = True
    if "number" in order:
        mine["challengeResponse"] = order["number"]
    return {**post(app["a"], {"messageId": order["messageId"], "jwt": sign(mine)}), "claims": claims}


def refresh(order):
    claims = device(order["token"])
    body = {"mechanismUid": app["mechanism"]}
    if order.get("newer"):
        body["userId"] = "alice"
    else:
        claims["mechanismUid"] = app["mechanism"]
        body["username"] = "alice"
    return post(app["r"].replace("register", "refresh"), {**body, "jwt": sign(claims)})


print("{}", flush=True)
for line in sys.stdin:
    command, value = next(iter(json.loads(line).items()))
    print(json.dumps({"enrol": enrol, "code": code, "answer": answer, "refresh": refresh}[command](value)), flush=True)
