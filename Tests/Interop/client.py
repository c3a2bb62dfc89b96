"""An example client of the Signet protocol, written from docs/protocol.md alone.

It shows that a device needs nothing of ours: the standard library, `cryptography` and `argon2-cffi` do. It is not for
people: its state file holds private keys in clear, so it takes only containers whose protection is `device`.

    client.py --ca ca.pem --state state.json activate CODE-FILE
    client.py --ca ca.pem --state state.json otp | pending | decide ID accepted

Each prints one JSON object. Section numbers below are those of docs/protocol.md.
"""
import argparse, base64, hashlib, hmac, http.client, json, os, ssl, struct, sys, time

import argon2.low_level as argon2
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.concatkdf import ConcatKDFHash
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

P256 = ec.SECP256R1()

def require(condition, sentence):
    if not condition:
        sys.exit(f"client.py: {sentence}")
def sha256(data):
    return hashlib.sha256(data).digest()
def sized(*parts):
    return b"".join(struct.pack(">I", len(part)) + part for part in parts)

# The words before section 1: base64url, JSON without duplicate names, keys as JWK
def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
def unb64(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))

def parse(data):
    def unique(pairs):
        require(len(pairs) == len(dict(pairs)), "a name occurs twice")
        return dict(pairs)
    return json.loads(data, object_pairs_hook=unique)

def to_jwk(key):
    point = key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    return {"kty": "EC", "crv": "P-256", "x": b64(point[1:33]), "y": b64(point[33:])}
def from_jwk(jwk):
    require(jwk["kty"] == "EC" and jwk["crv"] == "P-256", "a key is not on P-256")
    return ec.EllipticCurvePublicKey.from_encoded_point(P256, b"\4" + unb64(jwk["x"]) + unb64(jwk["y"]))

def save_key(key):
    return hex(key.private_numbers().private_value)
def load_key(text):
    return ec.derive_private_key(int(text, 16), P256)

# Signatures and encryption: JWS and JWE, compact
def sign(header, payload, signer):
    signed = b64(json.dumps(header).encode()) + "." + b64(payload)
    return signed + "." + b64(signer(signed.encode()))

def es256(key):
    def signer(data):
        r, s = utils.decode_dss_signature(key.sign(data, ec.ECDSA(hashes.SHA256())))
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")
    return signer
def hs256(key):
    return lambda data: hmac.digest(key, data, "sha256")

def verify(jws, kind, jwk):
    header, payload, signature = (jws if isinstance(jws, str) else jws.decode()).split(".")
    thumbprint = b64(sha256(json.dumps(jwk, sort_keys=True, separators=(",", ":")).encode()))  # RFC 7638
    fields = parse(unb64(header))
    require((fields["alg"], fields["typ"], fields["kid"]) == ("ES256", kind, thumbprint), "another kind of JWS, or key")
    r, s = (int.from_bytes(half, "big") for half in (unb64(signature)[:32], unb64(signature)[32:]))
    from_jwk(jwk).verify(utils.encode_dss_signature(r, s), f"{header}.{payload}".encode(), ec.ECDSA(hashes.SHA256()))
    return unb64(payload)

def decrypt(jwe, key):
    header, encrypted_key, nonce, ciphertext, tag = jwe.split(".")
    fields = parse(unb64(header))
    require((fields["alg"], fields["enc"], encrypted_key) == ("ECDH-ES", "A256GCM", ""), "another kind of JWE")
    info = sized(b"A256GCM", unb64(fields.get("apu", "")), unb64(fields.get("apv", ""))) + struct.pack(">I", 256)
    content_key = ConcatKDFHash(hashes.SHA256(), 32, info).derive(
        key.exchange(ec.ECDH(), from_jwk(fields["epk"])))  # RFC 7518 section 4.6.2
    return AESGCM(content_key).decrypt(unb64(nonce), unb64(ciphertext) + unb64(tag), header.encode())

# Sections 1 and 4: requests
def send(ca, server, pins, method, path, body=b"", state=None, request=None):
    trust = ssl.create_default_context(cafile=ca)  # TLS 1.2 or newer, host name and chain verified
    connection = http.client.HTTPSConnection(server.split("/")[0], timeout=30, context=trust)
    connection.connect()
    key = x509.load_der_x509_certificate(connection.sock.getpeercert(True)).public_key()
    pin = b64(sha256(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)))
    require(not pins or pin in pins, "the server's key is not pinned")
    path = f"/{server.split('/')[1]}/v1{path}"
    headers = {"Content-Type": "application/json"} if method == "POST" else {}
    if state:
        proof = {"method": method, "path": path, "body": b64(sha256(body)), "time": int(time.time()),
                 "id": b64(request or os.urandom(16))}
        header = {"alg": "ES256", "typ": "signet-request", "kid": state["container"]}
        signed = sign(header, json.dumps(proof).encode(), es256(load_key(state["session"])))
        headers["Authorization"] = "Signet " + signed
    connection.request(method, path, body or None, headers)
    response = connection.getresponse()
    answer = response.read(1 << 21).decode()
    require(response.status == 200, f"status {response.status}: {answer}")
    return answer

# Sections 2 and 3: activation
def invite_text(code):
    alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ*~$=U"
    text = code.replace("-", "").replace(" ", "").upper().translate(str.maketrans("OIL", "011"))
    require(len(text) == 17 and all(symbol in alphabet[:32] for symbol in text[:16]), "that is no invite code")
    value = 0
    for symbol in text[:16]:
        value = value * 32 + alphabet.index(symbol)
    require(alphabet[value % 37] == text[16], "the invite code has a typing error")
    return text[:16].encode()

def activate(ca, state_file, code):
    require(code["ver"] == 1, "the activation code is of another version")
    user, server, pins, invite = code["uid"], code["url"], code["pin"], invite_text(code["inv"])
    start = json.dumps({"version": 1, "user": user, "nonce": b64(os.urandom(32))}).encode()
    answer = parse(send(ca, server, pins, "POST", "/activation/start", start))
    offer = parse(unb64(answer["offer"]))
    kdf, server_id = offer["kdf"], f"https://{server}"
    require(offer["version"] == 1 and offer["server"] == server_id, "the server calls itself something else")
    require(kdf["name"] == "argon2id" and 19456 <= kdf["memory"] <= 1048576 and 2 <= kdf["passes"] <= 16
            and 1 <= kdf["lanes"] <= 16, "the key derivation is too cheap or too dear")
    require(offer["profile"]["protection"]["type"] == "device", "this example keeps no password-protected containers")
    require(all(own["type"] == "device" for own in offer["profile"].get("keys", {}).values()),
            "this example keeps no password-protected keys")
    ephemeral, session, encryption, signing = (ec.generate_private_key(P256) for _ in range(4))
    device = {"id": b64(os.urandom(16)), "name": "client.py", "platform": "linux", "keystore": "software"}
    keys = {"session": to_jwk(session), "encryption": to_jwk(encryption), "signing": to_jwk(signing)}
    core = json.dumps({"version": 1, "user": user, "server": server_id, "agreement": to_jwk(ephemeral),
                       "keys": keys, "device": device}).encode()
    shared = ephemeral.exchange(ec.ECDH(), from_jwk(offer["key"]))
    invite_key = argon2.hash_secret_raw(invite, unb64(offer["salt"]), kdf["passes"], kdf["memory"], kdf["lanes"], 32,
                                        argon2.Type.ID, 0x13)
    prk = hmac.digest(invite_key, shared, "sha256")  # HKDF-Extract
    t1 = sha256(b"signet/1 start\0" + sized(start, unb64(answer["offer"])))
    t2 = sha256(b"signet/1 finish\0" + t1 + sha256(core))
    device_proof, server_proof, otp_secret = (
        HKDFExpand(hashes.SHA256(), 32, b"signet/1 " + label + b"\0" + t2).derive(prk)
        for label in (b"device proof", b"server proof", b"otp"))
    message = sign({"alg": "HS256", "typ": "signet-activation"}, core, hs256(device_proof))
    finish = json.dumps({"handshake": answer["handshake"], "message": message}).encode()
    signed, _, mac = parse(send(ca, server, pins, "POST", "/activation/finish", finish))["message"].rpartition(".")
    proved = hmac.compare_digest(hs256(server_proof)(signed.encode()), unb64(mac))
    require(proved, "the server did not prove that it knows the invite")
    header, receipt = (parse(unb64(part)) for part in signed.split("."))
    require(header == header | {"alg": "HS256", "typ": "signet-receipt"} and receipt == receipt | {
        "version": 1, "user": user, "server": server_id, "transcript": b64(t2)}, "the receipt is for something else")
    state = {"server": server, "pins": pins, "user": user, "container": receipt["container"], "device": device["id"],
             "session": save_key(session), "encryption": save_key(encryption), "signing": save_key(signing),
             "serverKey": receipt["serverKey"], "otp": offer["profile"]["otp"], "otpSecret": b64(otp_secret)}
    with os.fdopen(os.open(state_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        print(json.dumps(state), file=file, flush=True)
        os.fsync(file.fileno())
    return parse(send(ca, server, pins, "POST", "/activation/confirm", b"{}", state)) | {"container": state["container"]}

# Sections 5 and 6: what an activated device does
def otp(state):
    rules = state["otp"]
    counter = struct.pack(">Q", int(time.time()) // rules["period"])
    mac = hmac.digest(unb64(state["otpSecret"]), counter, rules["algorithm"].lower())
    offset = mac[-1] & 15  # RFC 4226 section 5.3
    number = struct.unpack(">I", mac[offset:offset + 4])[0] & 0x7FFFFFFF
    return {"code": str(number % 10 ** rules["digits"]).zfill(rules["digits"])}

def hides(character):
    code = ord(character)  # the characters that section 5 forbids
    return (code < 32 and character != "\n" or 0x7F <= code <= 0x9F or code in (0x61C, 0x200E, 0x200F)
            or 0x202A <= code <= 0x202E or 0x2066 <= code <= 0x2069)

def texts(value):
    if isinstance(value, dict):
        return [text for one in value.values() for text in texts(one)]
    return [text for one in value for text in texts(one)] if isinstance(value, list) else [value]

def pending(ca, state):
    request = os.urandom(16)
    jwe = send(ca, state["server"], state["pins"], "GET", "/device/transactions", state=state, request=request)
    found = parse(verify(decrypt(jwe, load_key(state["encryption"])), "signet-transactions", state["serverKey"]))
    require(found["request"] == b64(request) and found["container"] == state["container"], "the list answers another")
    require(found["server"] == "https://" + state["server"], "the list is another server's")
    for one in found["transactions"]:
        content = parse(one["content"])
        canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        require(canonical == one["content"], "a content is not in its canonical form")
        require(not any(hides(c) for text in texts(content) for c in text), "a text hides something")
    return found

def decide(ca, state, transaction, status):
    wanted = {one["id"]: one for one in pending(ca, state)["transactions"]}.get(transaction)
    require(wanted and status in wanted["statuses"], "no such transaction waits for that decision")
    decision = {"version": 1, "transaction": transaction, "content": wanted["content"], "status": status,
                "time": int(time.time()), "expires": wanted["expires"], "server": "https://" + state["server"],
                "user": state["user"], "container": state["container"], "device": state["device"]}
    signing = load_key(state["signing"])
    canonical = json.dumps(to_jwk(signing), sort_keys=True, separators=(",", ":"))  # RFC 7638
    header = {"alg": "ES256", "typ": "signet-decision", "kid": b64(sha256(canonical.encode()))}
    body = json.dumps({"decision": sign(header, json.dumps(decision).encode(), es256(signing))}).encode()
    path = f"/device/transactions/{transaction}/decision"
    return parse(send(ca, state["server"], state["pins"], "POST", path, body, state))

def main():
    parser = argparse.ArgumentParser(description="An example client of the Signet protocol.")
    parser.add_argument("--ca", required=True, help="the certificates to trust, PEM")
    parser.add_argument("--state", required=True, help="the file that keeps the container")
    parser.add_argument("command", choices=["activate", "otp", "pending", "decide"])
    parser.add_argument("operands", nargs="*", help="activate: the file with the code; decide: id and status")
    given = parser.parse_args()
    with open(given.operands[0] if given.command == "activate" else given.state, encoding="utf-8") as file:
        content = parse(file.read())
    commands = {"activate": lambda: activate(given.ca, given.state, content), "otp": lambda: otp(content),
                "pending": lambda: pending(given.ca, content),
                "decide": lambda: decide(given.ca, content, *given.operands)}
    print(json.dumps(commands[given.command]()))

if __name__ == "__main__":
    main()
