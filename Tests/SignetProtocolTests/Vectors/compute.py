"""Computes activation.json, or with the word renewal or account renewal.json or account.json, from docs/protocol.md alone, with none of Signet's code.

Needs Python 3.9 or newer and, from PyPI, cryptography and argon2-cffi.
"""

import base64
import hashlib
import hmac
import json
import struct
import sys

from argon2.low_level import Type, hash_secret_raw
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
CHECKS = ALPHABET + "*~$=U"
ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def compact(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def seeded(label, count):
    """Bytes that anyone can make again."""
    return hashlib.shake_256(b"signet test vector " + label.encode()).digest(count)


def private_key(label):
    scalar = int.from_bytes(seeded(label, 40), "big") % (ORDER - 1) + 1
    return ec.derive_private_key(scalar, ec.SECP256R1())


def raw(key):
    return key.private_numbers().private_value.to_bytes(32, "big")


def jwk(key):
    numbers = key.public_key().public_numbers()
    return {
        "kty": "EC",
        "crv": "P-256",
        "x": b64(numbers.x.to_bytes(32, "big")),
        "y": b64(numbers.y.to_bytes(32, "big")),
    }


def thumbprint(key):
    j = jwk(key)
    return b64(hashlib.sha256(compact({name: j[name] for name in ("crv", "kty", "x", "y")})).digest())


def invite(data):
    number = int.from_bytes(data, "big")
    text = "".join(ALPHABET[number >> shift & 31] for shift in range(75, -1, -5))
    check = CHECKS[number % 37]
    return text, "-".join(text[i : i + 4] for i in range(0, 16, 4)) + "-" + check


def mac(key, *parts):
    return hmac.new(key, b"".join(parts), hashlib.sha256).digest()


def expand(prk, label, t2):
    return mac(prk, label.encode(), b"\0", t2, b"\x01")  # RFC 5869 section 2.3, one block


def hs256(key, kind, payload):
    signed = b64(compact({"alg": "HS256", "typ": kind})) + "." + b64(payload)
    return signed + "." + b64(mac(key, signed.encode()))


def es256(key, header, payload):
    signed = b64(compact(header)) + "." + b64(payload)
    r, s = utils.decode_dss_signature(key.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
    return signed + "." + b64(r.to_bytes(32, "big") + s.to_bytes(32, "big"))


def possession(key, t2):
    """Section 3.3: the new signing key signs the transcript."""
    return es256(key, {"alg": "ES256", "typ": "signet-possession", "kid": thumbprint(key)},
                 compact({"version": 1, "transcript": b64(t2)}))


def sealed_confirmation(key, label, t2, confirmation):
    """Section 3.3: what *confirm* returns, for who has the new encryption key."""
    return jwe(key, label + " confirmation",
               compact({"version": 1, "transcript": b64(t2), "confirmation": b64(confirmation)}))


def concat_kdf(z, algorithm, bits):
    """RFC 7518 section 4.6.2, no party info."""
    def counted(data):
        return struct.pack(">I", len(data)) + data

    info = counted(algorithm.encode()) + counted(b"") + counted(b"") + struct.pack(">I", bits)
    return hashlib.sha256(struct.pack(">I", 1) + z + info).digest()


def jwe(key, label, plaintext):
    ephemeral = private_key(label + " ephemeral")
    header = {"alg": "ECDH-ES", "enc": "A256GCM", "epk": jwk(ephemeral)}
    protected = b64(compact(header))
    cek = concat_kdf(ephemeral.exchange(ec.ECDH(), key.public_key()), "A256GCM", 256)
    nonce = seeded(label + " nonce", 12)
    sealed = AESGCM(cek).encrypt(nonce, plaintext, protected.encode())
    return ".".join([protected, "", b64(nonce), b64(sealed[:-16]), b64(sealed[-16:])])


def totp(secret, time, digits=6, period=30):
    return truncated(mac(secret, struct.pack(">Q", time // period)), digits)


def truncated(digest, digits):
    offset = digest[-1] & 15
    number = struct.unpack(">I", digest[offset : offset + 4])[0] & 0x7FFFFFFF
    return str(number % 10**digits).zfill(digits)


def activation(label, user, server, costs, profile, asked):
    code, typed = invite(seeded(label + " invite", 10))
    device, peer = private_key(label + " device ephemeral"), private_key(label + " server ephemeral")
    session, encryption, signing = (private_key(label + " " + name) for name in ("session", "encryption", "signing"))
    server_signing = private_key(label + " server signing")
    salt = seeded(label + " salt", 16)
    start = compact({"version": 1, "user": user, "nonce": b64(seeded(label + " device nonce", 32))})
    offer = compact({
        "version": 1, "nonce": b64(seeded(label + " server nonce", 32)), "key": jwk(peer), "salt": b64(salt),
        "kdf": {"name": "argon2id", "memory": costs[0], "passes": costs[1], "lanes": costs[2]},
        "server": server, "profile": profile, "expires": 1795231500,
    })
    core = compact({
        "version": 1, "user": user, "server": server, "agreement": jwk(device),
        "keys": {"session": jwk(session), "encryption": jwk(encryption), "signing": jwk(signing)},
        "device": {"id": b64(seeded(label + " device id", 16)), "name": "Jane's laptop", "platform": "linux",
                   "keystore": "software"},
    })
    z = device.exchange(ec.ECDH(), peer.public_key())
    invite_key = hash_secret_raw(code.encode(), salt, costs[1], costs[0], costs[2], 32, Type.ID, 0x13)
    prk = mac(invite_key, z)  # HKDF-Extract
    t1 = hashlib.sha256(
        b"signet/1 start\0" + struct.pack(">I", len(start)) + start + struct.pack(">I", len(offer)) + offer).digest()
    t2 = hashlib.sha256(b"signet/1 finish\0" + t1 + hashlib.sha256(core).digest()).digest()
    kd, ks, otp = (expand(prk, "signet/1 " + name, t2) for name in ("device proof", "server proof", "otp"))
    container = b64(seeded(label + " container", 16))
    confirmation = seeded(label + " confirmation", 32)
    receipt = compact({
        "version": 1, "container": container, "user": user, "server": server, "created": 1795230900,
        "transcript": b64(t2), "sealed": sealed_confirmation(encryption, label, t2, confirmation),
        "serverKey": jwk(server_signing),
    })
    confirm = compact({"confirmation": b64(confirmation)})
    domain = server.rsplit("/", 1)[1]
    request = compact({
        "method": "POST", "path": f"/{domain}/v1/activation/confirm", "body": b64(hashlib.sha256(confirm).digest()),
        "time": 1795230901, "id": b64(seeded(label + " request", 16)),
    })
    content = json.dumps(asked, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    decision = compact({
        "version": 1, "transaction": b64(seeded(label + " transaction", 16)), "content": content,
        "status": "accepted", "time": 1795231300, "expires": 1795231500, "server": server, "user": user,
        "container": container, "device": b64(seeded(label + " device id", 16)),
    })
    listed = {"transactions": [{
        "id": b64(seeded(label + " transaction", 16)), "content": content, "created": 1795231200,
        "expires": 1795231500, "statuses": ["accepted", "denied", "reported"],
    }]}
    listing = compact(listed)
    offline = compact({
        "version": 1, "transaction": b64(seeded(label + " transaction", 16)), "content": content,
        "expires": 1795231500, "server": server, "user": user,
    })
    offline_key = mac(otp, b"signet/1 offline\0", container.encode(), b"\x01")  # HKDF-Expand, one block
    question = hashlib.sha256(offline).digest().ljust(128, b"\0")  # RFC 6287 section 5.1
    answer = compact({"version": 1, "server": server, "container": container,
                      "request": b64(seeded(label + " request", 16)), **listed})
    answer = es256(server_signing, {"alg": "ES256", "typ": "signet-transactions", "kid": thumbprint(server_signing)},
                   answer)
    return {
        "id": label, "invite": typed, "inviteText": code,
        "devicePrivateKey": raw(device).hex(), "serverPrivateKey": raw(peer).hex(),
        "sessionPrivateKey": raw(session).hex(), "encryptionPrivateKey": raw(encryption).hex(),
        "signingPrivateKey": raw(signing).hex(), "signingThumbprint": thumbprint(signing),
        "start": start.decode(), "offer": offer.decode(), "core": core.decode(), "receipt": receipt.decode(),
        "Z": z.hex(), "inviteKey": invite_key.hex(), "PRK": prk.hex(), "T1": t1.hex(), "T2": t2.hex(),
        "Kd": kd.hex(), "Ks": ks.hex(), "otpSecret": otp.hex(), "otpTime": 1795231234,
        "otpCode": totp(otp, 1795231234),
        "deviceMessage": hs256(kd, "signet-activation", core), "possession": possession(signing, t2),
        "confirm": confirm.decode(), "serverMessage": hs256(ks, "signet-receipt", receipt),
        "request": request.decode(),
        "authorization": "Signet " + es256(
            session, {"alg": "ES256", "typ": "signet-request", "kid": container}, request),
        "decisionPayload": decision.decode(),
        "decision": es256(
            signing, {"alg": "ES256", "typ": "signet-decision", "kid": thumbprint(signing)}, decision),
        "offlinePayload": offline.decode(),
        "offline": es256(
            server_signing, {"alg": "ES256", "typ": "signet-offline", "kid": thumbprint(server_signing)}, offline),
        "offlineAnswer": truncated(mac(offline_key, b"OCRA-1:HOTP-SHA256-8:QH64\0", question), 8),
        **typed_answers(otp, container, offline),
        "transactions": listing.decode(), "serverSigningPrivateKey": raw(server_signing).hex(),
        "transactionsJWE": jwe(encryption, label, answer.encode()),
    }


def typed_answers(otp, container, payload):
    """Section 5.10: what a user types for the transaction of a payload, and what the device shows."""
    challenge = str(int.from_bytes(hashlib.sha256(payload).digest(), "big")).zfill(78)[-8:]
    key = mac(otp, b"signet/1 typed\0", container.encode(), b"\x01")  # HKDF-Expand, one block
    suite = b"OCRA-1:HOTP-SHA256-8:QA64\0"
    values = ["250EUR", "DE02120300000000202051"]
    text = "\n".join([challenge] + values).encode()
    question = hashlib.sha256(text).hexdigest().upper().encode()
    return {
        "typedChallenge": challenge, "typedAnswer": truncated(mac(key, suite, challenge.encode().ljust(128, b"\0")), 8),
        "typedValues": values, "typedValuesAnswer": truncated(mac(key, suite, question.ljust(128, b"\0")), 8),
    }


def renewal(label, before, server, profile):
    """The renewal of the container that an activation has made."""
    user = json.loads(before["core"])["user"]
    present = json.loads(before["receipt"])["container"]
    present_signing = private_key(before["id"] + " signing")
    label = before["id"] + ", " + label
    device, peer = private_key(label + " device ephemeral"), private_key(label + " server ephemeral")
    session, encryption, signing = (private_key(label + " " + name) for name in ("session", "encryption", "signing"))
    start = compact({"version": 1, "container": present, "nonce": b64(seeded(label + " device nonce", 32))})
    offer = compact({
        "version": 1, "nonce": b64(seeded(label + " server nonce", 32)), "key": jwk(peer), "server": server,
        "profile": profile, "expires": 1797823500,
    })
    core = compact({
        "version": 1, "container": present, "user": user, "server": server, "agreement": jwk(device),
        "keys": {"session": jwk(session), "encryption": jwk(encryption), "signing": jwk(signing)},
        "device": {"id": b64(seeded(before["id"] + " device id", 16)), "name": "", "platform": "linux",
                   "keystore": "software"},
    })
    message = es256(
        present_signing, {"alg": "ES256", "typ": "signet-renewal", "kid": thumbprint(present_signing)}, core)
    z = device.exchange(ec.ECDH(), peer.public_key())
    invite_key = mac(bytes.fromhex(before["otpSecret"]), b"signet/1 renewal\0", present.encode(), b"\x01")
    prk = mac(invite_key, z)  # HKDF-Extract
    t1 = hashlib.sha256(
        b"signet/1 start\0" + struct.pack(">I", len(start)) + start + struct.pack(">I", len(offer)) + offer).digest()
    t2 = hashlib.sha256(b"signet/1 finish\0" + t1 + hashlib.sha256(core).digest()).digest()
    kd, ks, otp = (expand(prk, "signet/1 " + name, t2) for name in ("device proof", "server proof", "otp"))
    handshake = b64(seeded(label + " handshake", 24))
    finish = compact({"handshake": handshake, "message": message, "proof": b64(mac(kd, message.encode())),
                      "possession": possession(signing, t2)})
    confirmation = seeded(label + " confirmation", 32)
    receipt = compact({
        "version": 1, "container": b64(seeded(label + " container", 16)), "user": user, "server": server,
        "created": 1797822900, "transcript": b64(t2),
        "sealed": sealed_confirmation(encryption, label, t2, confirmation), "serverKey": jwk(private_key(before["id"] + " server signing")),
    })
    return {
        "id": label, "container": present, "presentSigningPrivateKey": raw(present_signing).hex(),
        "presentOTPSecret": before["otpSecret"],
        "devicePrivateKey": raw(device).hex(), "serverPrivateKey": raw(peer).hex(),
        "signingPrivateKey": raw(signing).hex(), "encryptionPrivateKey": raw(encryption).hex(),
        "confirm": compact({"confirmation": b64(confirmation)}).decode(),
        "start": start.decode(), "offer": offer.decode(), "core": core.decode(), "receipt": receipt.decode(),
        "Z": z.hex(), "inviteKey": invite_key.hex(), "PRK": prk.hex(), "T1": t1.hex(), "T2": t2.hex(),
        "Kd": kd.hex(), "Ks": ks.hex(), "otpSecret": otp.hex(), "otpTime": 1797823234,
        "otpCode": totp(otp, 1797823234),
        "message": message, "finish": finish.decode(),
        "serverMessage": hs256(ks, "signet-renewal-receipt", receipt),
    }


def account(label, before, server, standing, policies, reason, actions, evidence, lock):
    """What section 14 says of the container of an activation: a condition, the report that answers it, and receipts."""
    container = b64(seeded(before["id"] + " container", 16))
    session, signer = private_key(before["id"] + " session"), private_key(before["id"] + " server signing")
    device = b64(seeded(before["id"] + " device id", 16))
    label = before["id"] + ", " + label
    challenge, request = b64(seeded(label + " challenge", 16)), b64(seeded(label + " request", 16))
    orders = [{"id": b64(seeded(label + " " + name, 16)), "action": name, "reason": reason} for name in actions]
    condition = {
        "version": 1, "server": server, "container": container, "request": request, "revision": 7,
        "challenge": challenge, "policies": policies, "standing": standing,
    }
    if reason:
        condition["reason"] = reason
    if orders:
        condition["orders"] = orders
    report = {
        "version": 1, "container": container, "server": server, "device": device, "challenge": challenge,
        "time": 1795231234, "revision": 6, "evidence": evidence, "lock": lock,
    }
    receipts = [compact({
        "version": 1, "container": container, "server": server, "device": device, "order": order["id"],
        "action": order["action"], "time": 1795231235,
    }) for order in orders]

    def by_container(kind, payload):
        return es256(session, {"alg": "ES256", "typ": kind, "kid": container}, payload)

    return {
        "id": label, "server": server, "container": container, "request": request, "device": device,
        "challenge": challenge, "sessionPrivateKey": raw(session).hex(), "serverSigningPrivateKey": raw(signer).hex(),
        "condition": compact(condition).decode(), "report": compact(report).decode(),
        "receipts": [receipt.decode() for receipt in receipts],
        "conditionJWS": es256(
            signer, {"alg": "ES256", "typ": "signet-condition", "kid": thumbprint(signer)}, compact(condition)),
        "reportJWS": by_container("signet-evidence", compact(report)),
        "receiptJWS": [by_container("signet-order-receipt", receipt) for receipt in receipts],
    }


OTP = {"label": "otp", "type": "totp", "algorithm": "SHA256", "digits": 6, "period": 30}
VECTORS = [
    activation("device protection, least costs", "alice", "https://signet.example.com/main", (19456, 2, 1),
               {"protection": {"type": "device"}, "otp": OTP},
               {"from": "Example Bank", "text": "Pay 250.00 € to Jane\n\"Today\""}),
    activation("password protection, more lanes", "jörg@example.com", "https://127.0.0.1:8443/staff_1", (32768, 3, 4),
               {"protection": {"type": "password", "password": {"minLength": 6, "maxLength": 64},
                               "lock": {"type": "lock", "limit": 5}}, "otp": OTP}, {
        "from": "Example Bank", "context": {"place": "Zürich", "browser": "Firefox 128", "address": "192.0.2.7"},
        "form": {"template": "payment", "fields": [
            {"type": "amount", "value": "250.00", "currency": "EUR"},
            {"type": "payee", "name": "Jane Doe", "account": "DE02 1203 0000 0000 2020 51"},
            {"type": "date", "value": "2026-11-21"},
            {"type": "text", "label": "Reference", "value": "Invoice 7\nOctober"},
            {"type": "group", "label": "Fees", "pairs": [{"name": "Transfer", "value": "0.15 EUR"}]},
        ]}}),
]
if sys.argv[1:] == ["renewal"]:
    VECTORS = [
        renewal("renewed under a password", VECTORS[0], "https://signet.example.com/main",
                {"protection": {"type": "password", "password": {"minLength": 6, "maxLength": 64},
                                "lock": {"type": "lock", "limit": 5}}, "otp": OTP}),
        renewal("renewed for the device alone", VECTORS[1], "https://127.0.0.1:8443/staff_1",
                {"protection": {"type": "device"}, "otp": OTP}),
    ]
if sys.argv[1:] == ["account"]:
    VECTORS = [
        account("an operator has locked it", VECTORS[0], "https://signet.example.com/main", "locked",
                {"deviceTampering": {"score": 0.5}, "mine": {"radius": 5}}, "reported lost", ["lock", "unlock", "wipe"],
                {"biometricAvailable": True, "tamperScore": 0.75, "tamperFindings": [
                    {"category": "debugger", "weight": 0.75, "explanation": "process 4711 (gdb) traces this process"}],
                 "appVersion": "2.10", "osName": "linux", "osVersion": "6.1.0", "screenLock": False,
                 "hardwareKeystore": True, "isKeystoreSimulated": False, "secondsSinceUse": 60,
                 "secondsSinceContact": 0, "clockSetBack": False, "flavour": "release"},
                {"broken": [{"policy": "deviceTampering", "reason": "the device seems to have been tampered with",
                             "evidence": {"tamperScore": 0.75, "threshold": 0.5}, "since": 1795231200}],
                 "manual": {"reason": "lent", "since": 1795231100, "policy": "mine"},
                 "server": {"reason": "reported lost", "since": 1795231000}}),
        account("nothing is wrong", VECTORS[1], "https://127.0.0.1:8443/staff_1", "open", {}, "", [], {}, {}),
    ]
print(json.dumps(VECTORS, indent=1, ensure_ascii=False))
