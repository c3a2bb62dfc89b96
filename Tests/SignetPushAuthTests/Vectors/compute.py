"""Computes pushauth.json from docs/protocol.md section 15 alone, with none of Signet's code; Python's standard library only."""

import base64
import hashlib
import hmac
import json
import sys


def url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def std(data):
    return base64.b64encode(data).decode()


def seeded(label, count=32):
    """Bytes that anyone can make again."""
    return hashlib.shake_256(b"signet test vector pushauth " + label.encode()).digest(count)


SECRET = seeded("secret")
CHALLENGES = {name: seeded(name) for name in ("registration", "default", "challenge")}
MECHANISM = "9B7FD1C4-62E9-4F0D-8F62-1A5D6C0F3E21"
DEVICE = {"deviceId": "AB01CD02", "deviceName": "Jane's phone", "deviceType": "ios", "communicationType": "apns"}


def response(name):
    return std(hmac.new(SECRET, CHALLENGES[name], hashlib.sha256).digest())


def token(claims):
    text = [url(json.dumps(part, separators=(",", ":"), ensure_ascii=False).encode())
            for part in ({"alg": "HS256", "typ": "JWT"}, claims)]
    head = ".".join(text)
    return head + "." + url(hmac.new(SECRET, head.encode(), hashlib.sha256).digest())


def message(kind, number):
    name = kind if kind in CHALLENGES else "default"
    claims = {"c": std(CHALLENGES[name]), "l": std(b"route=1"), "t": "120", "u": MECHANISM, "k": kind, "i": "1795231234000"}
    if kind == "challenge":
        claims["n"] = "12,34,56"
    claims |= {"m": "Pay 250.00 € to Jane?", "d": "alice", "messageId": f"AUTHENTICATE:{number}"}
    return {"kind": kind, "messageId": f"AUTHENTICATE:{number}", "token": token(claims)}


vector = {
    "secretHex": SECRET.hex(),
    "mechanism": MECHANISM,
    "device": DEVICE,
    "challenges": {name: value.hex() for name, value in CHALLENGES.items()},
    "responses": {name: response(name) for name in CHALLENGES},
    "register": token({"response": response("registration"), "mechanismUid": MECHANISM, **DEVICE}),
    "messages": [message("default", 1), message("challenge", 2), message("biometric", 3)],
    "approve": token({"response": response("default")}),
    "deny": token({"response": response("default"), "deny": True}),
    "number": token({"response": response("challenge"), "challengeResponse": "34"}),
    "refresh": token({"mechanismUid": MECHANISM, "jti": "1", **DEVICE}),
}
json.dump(vector, sys.stdout, indent=1, ensure_ascii=False)
print()
