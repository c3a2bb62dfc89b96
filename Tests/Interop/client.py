"""An example client of the Signet protocol, written from docs/protocol.md alone.

It shows that a device needs nothing of ours: the standard library, `cryptography` and `argon2-cffi` do. It is not for
people: its state file holds private keys in clear, so it takes only containers whose protection is `device`.

    client.py --ca ca.pem --state state.json activate CODE-FILE
    client.py --ca ca.pem --state state.json otp | pending | wait | decide ID accepted [NUMBER] | cancel ID
    client.py --ca ca.pem --state state.json scanned LINK accepted | offline TEXT-FILE | typed DIGITS [VALUE ...] | initiate TEXT | renew | end

Each prints one JSON object. Section numbers below are those of docs/protocol.md.
"""
import argparse, base64, hashlib, hmac, http.client, json, os, re, ssl, struct, sys, time

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
def new_id():
    """Section 5.8: with its first bit 0, it does not begin with a hyphen."""
    made = os.urandom(16)
    return b64(bytes([made[0] & 0x7F]) + made[1:])
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

def thumbprint_of(jwk):
    return b64(sha256(json.dumps(jwk, sort_keys=True, separators=(",", ":")).encode()))  # RFC 7638

def verify(jws, kind, jwk):
    header, payload, signature = (jws if isinstance(jws, str) else jws.decode()).split(".")
    thumbprint = thumbprint_of(jwk)
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
def send(ca, server, pins, method, path, body=b"", state=None, request=None, more={}, answers=None):
    trust = ssl.create_default_context(cafile=ca)  # TLS 1.2 or newer, host name and chain verified
    connection = http.client.HTTPSConnection(server.split("/")[0], timeout=60, context=trust)
    connection.connect()
    key = x509.load_der_x509_certificate(connection.sock.getpeercert(True)).public_key()
    pin = b64(sha256(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)))
    require(not pins or pin in pins, "the server's key is not pinned")
    path = f"/{server.split('/')[1]}/v1{path}"
    headers = more | ({"Content-Type": "application/json"} if method == "POST" else {})
    if state:
        proof = {"method": method, "path": path, "body": b64(sha256(body)), "time": int(time.time()),
                 "id": b64(request or os.urandom(16))}
        header = {"alg": "ES256", "typ": "signet-request", "kid": state["container"]}
        signed = sign(header, json.dumps(proof).encode(), es256(load_key(state["session"])))
        headers["Authorization"] = "Signet " + signed
    connection.request(method, path, body or None, headers)
    response = connection.getresponse()
    answer = response.read(1 << 21).decode()
    if answers is not None:
        answers.update(status=response.status, tag=response.getheader("ETag"))
    require(response.status in (200, 304), f"status {response.status}: {answer}")
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
    ephemeral, keys, jwks = new_keys()
    device = {"id": new_id(), "name": "client.py", "platform": "linux", "keystore": "software"}
    core = json.dumps({"version": 1, "user": user, "server": server_id, "agreement": to_jwk(ephemeral),
                       "keys": jwks, "device": device}).encode()
    invite_key = argon2.hash_secret_raw(invite, unb64(offer["salt"]), kdf["passes"], kdf["memory"], kdf["lanes"], 32,
                                        argon2.Type.ID, 0x13)
    t2, device_proof, server_proof, otp_secret = secrets(ephemeral, offer, invite_key, start, answer, core)
    message = sign({"alg": "HS256", "typ": "signet-activation"}, core, hs256(device_proof))
    finish = json.dumps({"handshake": answer["handshake"], "message": message,
                         "possession": possession(keys, t2)}).encode()
    receipt = proved_receipt(send(ca, server, pins, "POST", "/activation/finish", finish), server_proof,
                             "signet-receipt", {"user": user, "server": server_id, "transcript": b64(t2)})
    state = {"server": server, "pins": pins, "user": user, "container": receipt["container"], "device": device["id"],
             "serverKey": receipt["serverKey"], "otp": offer["profile"]["otp"], "otpSecret": b64(otp_secret)} | keys
    save(state, state_file, os.O_EXCL)
    body = confirmation(receipt, keys, t2)
    return parse(send(ca, server, pins, "POST", "/activation/confirm", body, state)) | {"container": state["container"]}

def new_keys():
    ephemeral, session, encryption, signing = (ec.generate_private_key(P256) for _ in range(4))
    keys = {"session": session, "encryption": encryption, "signing": signing}
    return (ephemeral, {name: save_key(key) for name, key in keys.items()},
            {name: to_jwk(key) for name, key in keys.items()})

def possession(keys, t2):
    signing = load_key(keys["signing"])
    header = {"alg": "ES256", "typ": "signet-possession", "kid": thumbprint_of(to_jwk(signing))}
    payload = {"version": 1, "transcript": b64(t2)}
    return sign(header, json.dumps(payload, separators=(",", ":")).encode(), es256(signing))

def confirmation(receipt, keys, t2):
    opened = parse(decrypt(receipt["sealed"], load_key(keys["encryption"])))
    require(opened["version"] == 1 and opened["transcript"] == b64(t2), "what is sealed is for another handshake")
    return json.dumps({"confirmation": opened["confirmation"]}).encode()

def secrets(ephemeral, offer, invite_key, start, answer, core):
    shared = ephemeral.exchange(ec.ECDH(), from_jwk(offer["key"]))
    prk = hmac.digest(invite_key, shared, "sha256")  # HKDF-Extract
    t1 = sha256(b"signet/1 start\0" + sized(start, unb64(answer["offer"])))
    t2 = sha256(b"signet/1 finish\0" + t1 + sha256(core))
    return [t2] + [HKDFExpand(hashes.SHA256(), 32, b"signet/1 " + label + b"\0" + t2).derive(prk)
                   for label in (b"device proof", b"server proof", b"otp")]

def proved_receipt(answer, server_proof, kind, expected):
    signed, _, mac = parse(answer)["message"].rpartition(".")
    proved = hmac.compare_digest(hs256(server_proof)(signed.encode()), unb64(mac))
    require(proved, "the server did not prove that it knows the invite")
    header, receipt = (parse(unb64(part)) for part in signed.split("."))
    require(header == header | {"alg": "HS256", "typ": kind} and receipt == receipt | {"version": 1} | expected,
            "the receipt is for something else")
    return receipt

def save(state, path, flag=0):
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | flag, 0o600), "w") as file:
        print(json.dumps(state), file=file, flush=True)
        os.fsync(file.fileno())

# Section 3.5: new keys of all kinds; the successor is kept beside the present container until it is confirmed
def renewal_key(state):
    return HKDFExpand(hashes.SHA256(), 32, b"signet/1 renewal\0" + state["container"].encode()).derive(unb64(state["otpSecret"]))

def renew(ca, state, state_file):
    server, pins, server_id = state["server"], state["pins"], "https://" + state["server"]
    start = json.dumps({"version": 1, "container": state["container"], "nonce": b64(os.urandom(32))}).encode()
    answer = parse(send(ca, server, pins, "POST", "/renewal/start", start, state))
    offer = parse(unb64(answer["offer"]))
    require(offer["version"] == 1 and offer["server"] == server_id, "the server calls itself something else")
    require(offer["profile"]["protection"]["type"] == "device", "this example keeps no password-protected containers")
    ephemeral, keys, jwks = new_keys()
    device = {"id": state["device"], "name": "", "platform": "linux", "keystore": "software"}
    core = json.dumps({"version": 1, "container": state["container"], "user": state["user"], "server": server_id,
                       "agreement": to_jwk(ephemeral), "keys": jwks, "device": device}).encode()
    t2, device_proof, server_proof, otp_secret = secrets(ephemeral, offer, renewal_key(state), start, answer, core)
    signing = load_key(state["signing"])
    message = sign({"alg": "ES256", "typ": "signet-renewal", "kid": thumbprint_of(to_jwk(signing))}, core, es256(signing))
    finish = json.dumps({"handshake": answer["handshake"], "message": message,
                         "proof": b64(hmac.digest(device_proof, message.encode(), "sha256")),
                         "possession": possession(keys, t2)}).encode()
    receipt = proved_receipt(send(ca, server, pins, "POST", "/renewal/finish", finish, state), server_proof,
                             "signet-renewal-receipt",
                             {"user": state["user"], "server": server_id, "transcript": b64(t2)})
    successor = state | keys | {"container": receipt["container"], "serverKey": receipt["serverKey"],
                                "otp": offer["profile"]["otp"], "otpSecret": b64(otp_secret)}
    save(successor, state_file + ".next", os.O_EXCL)
    confirmed = parse(send(ca, server, pins, "POST", "/activation/confirm", confirmation(receipt, keys, t2), successor))
    os.replace(state_file + ".next", state_file)
    return confirmed | {"container": successor["container"]}

# Section 3.6: the notice goes without authentication
def end(ca, state, state_file):
    notice = {"version": 1, "container": state["container"], "server": "https://" + state["server"],
              "device": state["device"], "event": "deleted", "reason": "an example", "time": int(time.time())}
    header = {"alg": "ES256", "typ": "signet-end", "kid": state["container"]}
    signed = sign(header, json.dumps(notice).encode(), es256(load_key(state["session"])))
    os.remove(state_file)
    body = json.dumps({"notice": signed}).encode()
    return parse(send(ca, state["server"], state["pins"], "POST", "/device/end", body))

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

def server_key(ca, state, jws):
    """The key that signed, if the server's words lead to it from the one that is known: section 5.5."""
    known, wanted = state["serverKey"], parse(unb64(jws.split(".")[0]))["kid"]
    if thumbprint_of(known) == wanted:
        return known
    for word in parse(send(ca, state["server"], state["pins"], "GET", "/jwks"))["successions"]:
        if parse(unb64(word.split(".")[0]))["kid"] == thumbprint_of(known):
            succession = parse(verify(word, "signet-key-succession", known))
            require(succession["server"] == "https://" + state["server"], "a succession of another server")
            known = succession["key"]
    require(thumbprint_of(known) == wanted, "no word of the server leads to the key that it signed with")
    return known

def pending(ca, state, path="/device/transactions", more={}, answers=None):
    request = os.urandom(16)
    jwe = send(ca, state["server"], state["pins"], "GET", path, state=state, request=request, more=more, answers=answers)
    if answers and answers["status"] == 304:
        return None
    jws = decrypt(jwe, load_key(state["encryption"])).decode()
    found = parse(verify(jws, "signet-transactions", server_key(ca, state, jws)))
    require(found["request"] == b64(request) and found["container"] == state["container"], "the list answers another")
    require(found["server"] == "https://" + state["server"], "the list is another server's")
    for one in found["transactions"]:
        content = parse(one["content"])
        canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        require(canonical == one["content"], "a content is not in its canonical form")
        require(not any(hides(c) for text in texts(content) for c in text), "a text hides something")
    return found

def wait(ca, state):
    answers = {}
    found = pending(ca, state, answers=answers)  # section 5.6: what there is now, and its tag
    if found["transactions"]:
        return found
    more = {"If-None-Match": answers["tag"], "Prefer": "wait=20"}
    return pending(ca, state, more=more, answers=answers) or {"transactions": []}

def signed_decision(state, wanted, status, number=None):
    decision = {"version": 1, "transaction": wanted["id"], "content": wanted["content"], "status": status,
                "time": int(time.time()), "expires": wanted["expires"], "server": "https://" + state["server"],
                "user": state["user"], "container": state["container"], "device": state["device"]}
    if number:
        decision["number"] = number
    signing = load_key(state["signing"])
    header = {"alg": "ES256", "typ": "signet-decision", "kid": thumbprint_of(to_jwk(signing))}
    return json.dumps({"decision": sign(header, json.dumps(decision).encode(), es256(signing))}).encode()

def decide(ca, state, transaction, status, number=None, path="/device/transactions"):
    wanted = {one["id"]: one for one in pending(ca, state, path)["transactions"]}.get(transaction)
    require(wanted and status in wanted["statuses"], "no such transaction waits for that decision")
    body = signed_decision(state, wanted, status, number)
    path = f"/device/transactions/{transaction}/decision"
    return parse(send(ca, state["server"], state["pins"], "POST", path, body, state))

def scanned(ca, state, link, status):
    prefix, _, rest = link.partition("signet:transaction?id=")  # section 5.7
    transaction, _, server = rest.partition("&url=")
    require(prefix == "" and server == state["server"], "that is no link to a transaction at this server")
    return decide(ca, state, transaction, status, path=f"/device/transactions/{transaction}")

def cancel(ca, state, transaction):
    body = json.dumps({"reason": "userCancel", "message": "an example"}).encode()
    return parse(send(ca, state["server"], state["pins"], "POST", f"/device/transactions/{transaction}/cancel", body, state))

def initiate(ca, state, text):
    content = json.dumps({"initiated": "device", "text": text}, separators=(",", ":"), ensure_ascii=False)
    wish = {"id": new_id(), "content": content, "expires": int(time.time()) + 300}  # section 5.8
    body = signed_decision(state, wish, "accepted")
    return parse(send(ca, state["server"], state["pins"], "POST", "/device/initiated", body, state))

def offline(ca, state, jws):
    payload = verify(jws, "signet-offline", server_key(ca, state, jws))  # section 5.9
    found = parse(payload)
    require((found["server"], found["user"]) == ("https://" + state["server"], state["user"]), "it is for another")
    require(found["expires"] > time.time(), "it has expired")
    return {"content": found["content"], "answer": ocra(state, b"signet/1 offline", b"QH64", sha256(payload))}

def typed(state, challenge, *values):
    values = [value.replace(" ", "").upper() for value in values]  # section 5.10; an amount without its last zeros
    values = [re.sub(r"^([0-9]+)[.,]([0-9]*?)0*([A-Z]{3})?$", normal_amount, value) for value in values]
    question = challenge.encode()
    if values:
        question = hashlib.sha256("\n".join([challenge, *values]).encode()).hexdigest().upper().encode()
    return {"values": values, "answer": ocra(state, b"signet/1 typed", b"QA64", question)}

def normal_amount(found):
    whole, places, currency = found.groups()
    return whole + ("." + places if places else "") + (currency or "")

def ocra(state, label, format, question):
    key = HKDFExpand(hashes.SHA256(), 32, label + b"\0" + state["container"].encode()).derive(unb64(state["otpSecret"]))
    question = question.ljust(128, b"\0")  # RFC 6287 section 5.1: 128 bytes
    mac = hmac.digest(key, b"OCRA-1:HOTP-SHA256-8:" + format + b"\0" + question, "sha256")
    offset = mac[-1] & 15
    number = struct.unpack(">I", mac[offset:offset + 4])[0] & 0x7FFFFFFF
    return str(number % 10 ** 8).zfill(8)

def main():
    parser = argparse.ArgumentParser(description="An example client of the Signet protocol.")
    parser.add_argument("--ca", required=True, help="the certificates to trust, PEM")
    parser.add_argument("--state", required=True, help="the file that keeps the container")
    commands = {
        "activate": lambda: activate(given.ca, given.state, parse(read(given.operands[0]))),
        "otp": lambda: otp(state()), "pending": lambda: pending(given.ca, state()), "wait": lambda: wait(given.ca, state()),
        "decide": lambda: decide(given.ca, state(), *given.operands),
        "scanned": lambda: scanned(given.ca, state(), *given.operands),
        "cancel": lambda: cancel(given.ca, state(), *given.operands),
        "initiate": lambda: initiate(given.ca, state(), *given.operands),
        "offline": lambda: offline(given.ca, state(), read(given.operands[0]).strip()),
        "typed": lambda: typed(state(), *given.operands),
        "renew": lambda: renew(given.ca, state(), given.state), "end": lambda: end(given.ca, state(), given.state)}
    parser.add_argument("command", choices=commands)
    parser.add_argument("operands", nargs="*", help="as above")
    given = parser.parse_args()
    state = lambda: parse(read(given.state))
    print(json.dumps(commands[given.command]()))

def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()

if __name__ == "__main__":
    main()
