#!/usr/bin/env python3
"""Files of authenticators, written and read from docs/interchange.md alone; shares no code with the product.

    accounts.py write FORMAT [PASSWORD]   JSON list of accounts on standard input, the file on standard output
    accounts.py read FORMAT [PASSWORD]    the file on standard input, JSON list of accounts on standard output

An account: {"issuer", "name", "type": "totp"|"hotp", "period", "counter", "algorithm", "digits", "secret" (hex)}.
In PSKC also {"check": true} for HOTP, and "type": "ocra" with "suite", "shortest", "longest" and a counter where it has one.
PSKC is read and written by python-pskc, which is somebody else's.
"""
import base64
import json
import os
import struct
import sys
import tempfile
import urllib.parse

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.pbkdf2 import PBKDF2HMAC
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt


def b32(account, pad=False):
    text = base64.b32encode(bytes.fromhex(account["secret"])).decode()
    return text if pad else text.rstrip("=")


def unb32(text):
    return base64.b32decode(text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 8)).hex()


def pbkdf2(hash_function, password, salt, iterations):
    return PBKDF2HMAC(hash_function, 32, salt, iterations).derive(password.encode())


def factor(account):
    return {"period": account["period"]} if account["type"] == "totp" else {"counter": account["counter"]}


def account(issuer, name, kind, algorithm, digits, secret, members):
    kind = kind.lower()
    made = {"issuer": issuer, "name": name, "type": kind, "algorithm": algorithm, "digits": digits, "secret": secret}
    made["period" if kind == "totp" else "counter"] = members["period" if kind == "totp" else "counter"]
    return made


# Aegis

def write_aegis(accounts, password):
    entries = [{
        "type": a["type"], "uuid": "01234567-89ab-4def-8123-456789abcdef", "name": a["name"], "issuer": a["issuer"],
        "icon": None, "note": "a note", "favorite": True,
        "info": {"secret": b32(a), "algo": a["algorithm"], "digits": a["digits"], **factor(a)},
    } for a in accounts]
    database = {"version": 2, "entries": entries}
    if password is None:
        return json.dumps({"version": 1, "header": {"slots": None, "params": None}, "db": database}).encode()
    master, salt, slot_nonce, nonce = os.urandom(32), os.urandom(32), os.urandom(12), os.urandom(12)
    key = Scrypt(salt, 32, 1 << 14, 8, 1).derive(password.encode())
    wrapped = AESGCM(key).encrypt(slot_nonce, master, None)
    sealed = AESGCM(master).encrypt(nonce, json.dumps(database).encode(), None)
    biometric = {"type": 2, "uuid": "b", "key": "00" * 32, "key_params": {"nonce": "00" * 12, "tag": "00" * 16}}
    slot = {"type": 1, "uuid": "a", "key": wrapped[:-16].hex(), "n": 1 << 14, "r": 8, "p": 1, "salt": salt.hex(),
            "key_params": {"nonce": slot_nonce.hex(), "tag": wrapped[-16:].hex()}}
    params = {"nonce": nonce.hex(), "tag": sealed[-16:].hex()}
    return json.dumps({"version": 1, "header": {"slots": [biometric, slot], "params": params},
                       "db": base64.b64encode(sealed[:-16]).decode()}).encode()


def read_aegis(data, password):
    file = json.loads(data)
    assert file["version"] == 1
    database = file["db"]
    if password is not None:
        slot = next(s for s in file["header"]["slots"] if s["type"] == 1)
        key = Scrypt(bytes.fromhex(slot["salt"]), 32, slot["n"], slot["r"], slot["p"]).derive(password.encode())
        opened = AESGCM(key).decrypt(
            bytes.fromhex(slot["key_params"]["nonce"]),
            bytes.fromhex(slot["key"]) + bytes.fromhex(slot["key_params"]["tag"]), None)
        params = file["header"]["params"]
        database = json.loads(AESGCM(opened).decrypt(
            bytes.fromhex(params["nonce"]), base64.b64decode(database) + bytes.fromhex(params["tag"]), None))
    return [account(e["issuer"], e["name"], e["type"], e["info"]["algo"], e["info"]["digits"],
                    unb32(e["info"]["secret"]), e["info"]) for e in database["entries"]]


# 2FAS

REFERENCE_LENGTH = 256


def write_2fas(accounts, password):
    services = [{
        "name": a["issuer"], "secret": b32(a), "updatedAt": 1700000000000, "order": {"position": i},
        "otp": {"label": a["name"], "account": a["name"], "issuer": a["issuer"], "digits": a["digits"],
                "algorithm": a["algorithm"], "tokenType": a["type"].upper(), "source": "Link", **factor(a)},
        "icon": {"selected": "Label", "label": {"text": "EX", "backgroundColor": "Orange"}},
    } for i, a in enumerate(accounts)]
    file = {"services": services, "groups": [], "updatedAt": 1700000000000, "schemaVersion": 4, "appOrigin": "ios"}
    if password is not None:
        salt, nonce = os.urandom(256), os.urandom(12)
        key = pbkdf2(hashes.SHA256(), password, salt, 10_000)
        sealed = AESGCM(key).encrypt(nonce, json.dumps(services).encode(), None)
        file["services"] = []
        file["servicesEncrypted"] = ":".join(base64.b64encode(p).decode() for p in (sealed, salt, nonce))
    return json.dumps(file).encode()


def read_2fas(data, password):
    file = json.loads(data)
    services = file["services"]
    if password is not None:
        assert services == []
        texts = []
        for name in ("servicesEncrypted", "reference"):
            sealed, salt, nonce = (base64.b64decode(p, validate=True) for p in file[name].split(":"))
            assert len(salt) == 256
            texts.append(AESGCM(pbkdf2(hashes.SHA256(), password, salt, 10_000)).decrypt(nonce, sealed, None))
        assert len(texts[1]) == REFERENCE_LENGTH, len(texts[1])
        services = json.loads(texts[0])
    return [account(s["otp"]["issuer"], s["otp"]["account"], s["otp"]["tokenType"], s["otp"]["algorithm"],
                    s["otp"]["digits"], unb32(s["secret"]), s["otp"]) for s in services]


# andOTP

def write_andotp(accounts, password):
    plain = json.dumps([{
        "secret": b32(a, pad=True), "issuer": a["issuer"], "label": a["name"], "digits": a["digits"],
        "type": a["type"].upper(), "algorithm": a["algorithm"], "thumbnail": "Default", "last_used": 5,
        "used_frequency": 1, "tags": ["work"], **factor(a),
    } for a in accounts]).encode()
    if password is None:
        return plain
    salt, nonce = os.urandom(12), os.urandom(12)
    key = pbkdf2(hashes.SHA1(), password, salt, 1234)
    return struct.pack(">I", 1234) + salt + nonce + AESGCM(key).encrypt(nonce, plain, None)


def read_andotp(data, password):
    if password is not None:
        iterations, = struct.unpack(">I", data[:4])
        key = pbkdf2(hashes.SHA1(), password, data[4:16], iterations)
        data = AESGCM(key).decrypt(data[16:28], data[28:], None)
    return [account(e["issuer"], e["label"], e["type"], e["algorithm"], e["digits"], unb32(e["secret"]), e)
            for e in json.loads(data)]


# FreeOTP+ and Raivo

def signed(byte):
    return byte - 256 if byte > 127 else byte


def write_freeotp(accounts, password):
    assert password is None
    tokens = [{
        "algo": a["algorithm"], "counter": a["counter"] - 1 if a["type"] == "hotp" else 0, "digits": a["digits"],
        "issuerExt": a["issuer"], "issuerInt": a["issuer"], "label": a["name"], "period": a.get("period", 30),
        "secret": [signed(b) for b in bytes.fromhex(a["secret"])], "type": a["type"].upper(),
    } for a in accounts]
    return json.dumps({"tokenOrder": [f"{a['issuer']}:{a['name']}" for a in accounts], "tokens": tokens}).encode()


def read_freeotp(data, password):
    assert password is None
    file = json.loads(data)
    assert len(file["tokenOrder"]) == len(file["tokens"])
    return [account(t["issuerExt"], t["label"], t["type"], t["algo"], t["digits"],
                    bytes(b % 256 for b in t["secret"]).hex(), {**t, "counter": t["counter"] + 1})
            for t in file["tokens"]]


def write_raivo(accounts, password):
    assert password is None
    return json.dumps([{
        "issuer": a["issuer"], "account": a["name"], "secret": b32(a), "algorithm": a["algorithm"],
        "digits": str(a["digits"]), "kind": a["type"].upper(), "timer": str(a.get("period", 0)),
        "counter": str(a.get("counter", 0)), "iconType": "", "iconValue": "", "pinned": "false",
    } for a in accounts]).encode()


# Google Authenticator

def varint(number):
    out = b""
    while number >= 0x80:
        out, number = out + bytes([number & 0x7F | 0x80]), number >> 7
    return out + bytes([number])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


ALGORITHMS = ["", "SHA1", "SHA256", "SHA512"]


def write_google(accounts, password):
    assert password is None
    lines = []
    for index, a in enumerate(accounts):
        one = (field(1, bytes.fromhex(a["secret"])) + field(2, f"{a['issuer']}:{a['name']}") + field(3, a["issuer"])
               + field(4, ALGORITHMS.index(a["algorithm"])) + field(5, 2 if a["digits"] == 8 else 1)
               + field(6, 1 if a["type"] == "hotp" else 2))
        if a["type"] == "hotp":
            one += field(7, a["counter"])
        message = (field(1, one) + field(2, 1) + field(3, len(accounts)) + field(4, index)
                   + field(5, (-77) & 0xFFFFFFFFFFFFFFFF))
        data = urllib.parse.quote(base64.b64encode(message).decode(), safe="")
        lines.append(f"otpauth-migration://offline?data={data}\n")
    return "".join(reversed(lines)).encode()


def fields(data):
    def number():
        nonlocal data
        value = shift = 0
        while True:
            byte, data = data[0], data[1:]
            value, shift = value | (byte & 0x7F) << shift, shift + 7
            if byte < 0x80:
                return value
    while data:
        key = number()
        if key & 7 == 2:
            count = number()
            value, data = data[:count], data[count:]
        else:
            value = number()
        yield key >> 3, value


def read_google(data, password):
    assert password is None
    accounts, seen = [], []
    lines = data.decode().splitlines()
    for line in lines:
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(line).query, strict_parsing=True)
        message = list(fields(base64.b64decode(query["data"][0], validate=True)))
        numbers = {n: v for n, v in message if n != 1}
        assert numbers[2] == 1 and numbers[3] == len(lines)
        seen.append((numbers.get(4, 0), numbers[5]))
        for number, value in message:
            if number != 1:
                continue
            one = dict(fields(value))
            kind = {1: "hotp", 2: "totp"}[one[6]]
            issuer = one.get(3, b"").decode()
            name = one[2].decode()
            if issuer:
                assert name.startswith(issuer + ":")
                name = name[len(issuer) + 1:]
            accounts.append(account(issuer, name, kind, ALGORITHMS[one[4]], {1: 6, 2: 8}[one[5]], one[1].hex(),
                                    {"period": 30, "counter": one.get(7, 0)}))
    assert [i for i, _ in seen] == list(range(len(lines))) and len({i for _, i in seen}) == 1
    return accounts


# otpauth

def write_otpauth(accounts, password):
    assert password is None
    quote = urllib.parse.quote
    return "".join(
        f"otpauth://{a['type']}/{quote(a['issuer'])}:{quote(a['name'])}?" + urllib.parse.urlencode(
            {"secret": b32(a), "issuer": a["issuer"], "algorithm": a["algorithm"], "digits": a["digits"],
             **factor(a)}, quote_via=quote) + "\n"
        for a in accounts).encode()


def read_otpauth(data, password):
    assert password is None
    accounts = []
    for line in data.decode().splitlines():
        parts = urllib.parse.urlsplit(line)
        assert parts.scheme == "otpauth"
        query = {k: v[0] for k, v in urllib.parse.parse_qs(parts.query, strict_parsing=True).items()}
        label = [urllib.parse.unquote(p) for p in parts.path[1:].split(":")]
        issuer, name = label if len(label) == 2 else ("", label[0])
        assert query.get("issuer", "") == issuer
        accounts.append(account(issuer, name, parts.netloc, query.get("algorithm", "SHA1"),
                                int(query.get("digits", 6)), unb32(query["secret"]),
                                {"period": int(query.get("period", 30)), "counter": int(query.get("counter", 0))}))
    return accounts


# PSKC by python-pskc

def pskc_key(protection, container):
    if protection.startswith("hex:"):
        container.encryption.key = bytes.fromhex(protection[4:])
    else:
        container.encryption.derive_key(protection)


WHOLE_LENGTHS = {"SHA1": 40, "SHA256": 64, "SHA512": 128}


def pskc_account(key):
    kind = key.algorithm.split(":")[-1]
    if kind != "ocra":
        made = account(key.issuer or "", key.friendly_name, kind, (key.algorithm_suite or "HMAC-SHA1")[5:],
                       key.response_length, key.secret.hex(), {"period": key.time_interval, "counter": key.counter})
        return {**made, "check": True} if key.response_check else made
    _, algorithm, digits = key.algorithm_suite.split(":")[1].split("-")
    assert key.response_length == (int(digits) or WHOLE_LENGTHS[algorithm])
    assert key.response_encoding == ("DECIMAL" if int(digits) else "HEXADECIMAL")
    made = {"issuer": key.issuer or "", "name": key.friendly_name, "type": kind, "algorithm": algorithm,
            "digits": int(digits), "secret": key.secret.hex(), "suite": key.algorithm_suite}
    for name, value in (("counter", key.counter), ("shortest", key.challenge_min_length),
                        ("longest", key.challenge_max_length)):
        if value is not None:
            made[name] = value
    return made


def write_pskc(accounts, protection):
    from pskc import PSKC
    container = PSKC()
    for index, a in enumerate(accounts):
        members = {}
        if a.get("check"):
            members["response_check"] = True
        if "shortest" in a:
            formats = {"A": "ALPHANUMERIC", "N": "DECIMAL", "H": "HEXADECIMAL"}
            question = next(p for p in a["suite"].split(":")[2].split("-") if p.startswith("Q"))
            members.update(challenge_encoding=formats[question[1]], challenge_min_length=a["shortest"],
                           challenge_max_length=a["longest"])
        container.add_key(
            id=str(index), issuer=a["issuer"], friendly_name=a["name"], secret=bytes.fromhex(a["secret"]),
            algorithm=f"urn:ietf:params:xml:ns:keyprov:pskc:{a['type']}",
            response_length=a["digits"] or WHOLE_LENGTHS[a["algorithm"]],
            response_encoding="DECIMAL" if a["digits"] else "HEXADECIMAL",
            algorithm_suite=a.get("suite", "HMAC-" + a["algorithm"]), counter=a.get("counter"),
            time_interval=a.get("period"), serial=f"SN{index}", manufacturer="oath.Maker", **members)
    if protection and protection.startswith("hex:"):
        container.encryption.setup_preshared_key(key=bytes.fromhex(protection[4:]), algorithm="aes128-cbc"
                                                 if len(protection) == 36 else "aes256-cbc")
    elif protection:
        container.encryption.setup_pbkdf2(protection, iterations=2000, prf="hmac-sha256", algorithm="aes256-cbc")
    with tempfile.NamedTemporaryFile(suffix=".xml") as file:
        container.write(file.name)
        return open(file.name, "rb").read()


def read_pskc(data, protection):
    from pskc import PSKC
    with tempfile.NamedTemporaryFile(suffix=".xml") as file:
        file.write(data)
        file.flush()
        container = PSKC(file.name)
        if protection:
            pskc_key(protection, container)
        return [pskc_account(key) for key in container.keys]


def main():
    command, format_name = sys.argv[1:3]
    password = sys.argv[3] if len(sys.argv) > 3 else None
    data = sys.stdin.buffer.read()
    function = globals()[f"{command}_{format_name}"]
    if command == "write":
        sys.stdout.buffer.write(function(json.loads(data), password))
    else:
        json.dump(function(data, password), sys.stdout)


main()
