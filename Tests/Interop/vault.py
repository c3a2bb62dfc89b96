"""Opens a vault of a software keystore with the password, written from docs/vault-format.md alone.

It shows that the page says all there is to know: the standard library, `cryptography` and `argon2-cffi` do. It only reads, and so
counts no attempt: whoever has the keystore's key beside the vault is limited by the cost of the password alone.

    vault.py FOLDER                  lists containers and slots
    vault.py FOLDER CONTAINER DOMAIN prints the domain's records; the password, where one is needed, is standard input
    vault.py FOLDER --keys           prints the master key of each domain that the device, or a line of standard input, opens

Section numbers below are those of docs/vault-format.md.
"""
import hashlib, hmac, json, sqlite3, struct, sys, unicodedata

import argon2.low_level as argon2
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
KINDS = {1: "device", 2: "password", 3: "biometric", 4: "device passcode", 5: "recovery"}

def require(condition, sentence):
    if not condition:
        sys.exit(f"vault.py: {sentence}")

# Section 1: words
def canonical(*fields):
    out = b""
    for field in fields:
        if isinstance(field, int):
            field = struct.pack(">q", field)
        if isinstance(field, str):
            field = field.encode()
        out += struct.pack(">I", len(field or b"")) + (field or b"")
    return out
def mac(key, data):
    return hmac.digest(key, data, "sha256")
def extract(salt, key):
    return mac(salt, key)
def expand(key, info, count=32):
    out = block = b""
    for number in range(1, -(-count // 32) + 1):
        block = mac(key, block + info + bytes([number]))
        out += block
    return out[:count]
def hkdf(key, salt, info):
    return expand(extract(salt, key), info)
def xor(one, other):
    return bytes(a ^ b for a, b in zip(one, other))
def open_gcm(key, sealed, context):
    return AESGCM(key).decrypt(sealed[:12], sealed[12:], context)
def prepared(password):
    spaced = "".join(" " if unicodedata.category(c) == "Zs" else c for c in password)
    return unicodedata.normalize("NFC", spaced).encode()
def argon2id(password, salt, memory, passes, lanes):
    return argon2.hash_secret_raw(password, salt, passes, memory, lanes, 32, argon2.Type.ID, 0x13)

class Vault:
    def __init__(self, folder):
        # Section 3: the software keystore
        with open(f"{folder}/software-keystore.key", "rb") as file:
            content = file.read()
        require(len(content) == 40 and content[:8] == b"SGNTSWK1", "the keystore's key is damaged")
        self.keystore_key = content[8:]
        self.database = sqlite3.connect(f"file:{folder}/vault.sqlite?mode=ro", uri=True)
        self.database.row_factory = sqlite3.Row
        version = self.database.execute("PRAGMA user_version").fetchone()[0]
        require(version in (1, 2, 3), f"the vault has version {version}")
        # Section 4: identity and rows
        row = self.query("SELECT * FROM vault")[0]
        require(row["keystore"] == "software", f"the keystore is {row['keystore']}")
        self.vault = row["vault"]
        key = self.unseal(row["sealed_key"], canonical("signet vault key v1", self.vault))
        self.row_key = hkdf(key, self.vault, b"signet vault row key v1")
        fields = ["vault v3" if version > 2 else "vault", row["device"], row["keystore"], row["sealed_key"]]
        if version > 1 and row["counter"] is not None:
            fields.append(row["counter"])
        self.check(row, *fields)
        # The state of all rows together
        self.parts = None
        if version > 2:
            state = self.query("SELECT * FROM generation")[0]
            rows = self.query("SELECT * FROM part")
            self.parts = {(part["owner"], part["name"].encode()): part["digest"] for part in rows}
            self.check(state, "state", state["number"],
                       *(field for key in sorted(self.parts) for field in (*key, self.parts[key])))

    def check_part(self, owner, name, *fields):
        if self.parts is not None:
            digest = hashlib.sha256(canonical(*fields)).digest() if len(fields) > 1 else None
            require(self.parts.get((owner, name.encode())) == digest, f"“{name or owner.hex()}” is not what was stored")

    def query(self, sql, *values):
        return self.database.execute(sql, values).fetchall()

    def unseal(self, blob, context):
        require(blob[0] == 1, "the keystore did not seal this")
        return open_gcm(self.keystore_key, blob[1:], context)

    def check(self, row, *fields):
        wanted = mac(self.row_key, canonical("signet vault row v1", self.vault, canonical(*fields)))
        require(hmac.compare_digest(wanted, row["mac"]), f"the row “{fields[0]}” was altered")

    def containers(self):
        for row in self.query("SELECT * FROM container ORDER BY created, number"):
            names = ["id", "state", "created", "user_id", "server", "name", "server_id"]
            authorities = row["authorities"]
            self.check(row, "container", *(row[name] for name in names), 0 if authorities is None else 1,
                       authorities or "", row["pins"], row["protocol_facts"], row["extra"])
            slots = self.query("SELECT mac FROM slot WHERE container = ? ORDER BY domain, kind", row["id"])
            receipts = self.query("SELECT mac FROM receipt WHERE container = ? ORDER BY domain", row["id"]
                                  ) if self.parts is not None else []
            self.check_part(row["id"], "", "container", row["mac"], len(slots), *(r["mac"] for r in slots + receipts))
            yield row

    def slots(self, container):
        for row in self.query("SELECT * FROM slot WHERE container = ? ORDER BY domain, kind", container):
            fields = ["slot", row["header"], row["sealed_secret"], row["wrapped_key"], row["failed"]]
            names = ["last_boot", "last_since_boot", "set_at", "is_initial", "seen_at"]
            more = [row[name] for name in names if name in row.keys()]
            if any(value is not None for value in more):
                fields += more
            self.check(row, *fields)
            yield row, self.header(row, container)

    # Section 5: slots
    def header(self, row, container):
        data = row["header"]
        require(data[:4] == b"SGSH" and data[4] in (1, 2), "the header has another version")
        cost = struct.unpack(">III", data[9:21])
        end = 26 if data[4] == 1 else 54
        name = data[end + 49:end + 49 + data[end + 48]].decode()
        require(data[end + 16:end + 48] == self.vault + container and name == row["domain"]
                and data[5] == row["kind"] and data[6] == 1, "the slot is in another's place")
        if data[4] == 1:
            policy = {"type": "lock", "limit": struct.unpack(">I", data[22:26])[0]} if data[21] else {"type": "none"}
        else:
            text = data[end + 51 + len(name):]
            require(len(text) == struct.unpack(">H", data[end + 49 + len(name):end + 51 + len(name)])[0],
                    "the header has another length")
            policy = json.loads(text) if text else {"type": "none"}
        return {"kind": data[5], "silent": data[7] == 2, "cost": cost, "salt": data[end:end + 16], "lock": policy}

    def slot_key(self, container, row, header, password):
        context = canonical("signet slot hardware secret v1", self.vault, container, row["domain"], header["kind"])
        secret = self.unseal(row["sealed_secret"], context)
        if header["kind"] == 1:
            extracted = extract(header["salt"], secret)
        else:
            extracted = extract(secret, argon2id(prepared(password), header["salt"], *header["cost"]))
        return expand(extracted, b"signet slot key v1" + hashlib.sha256(row["header"]).digest()), secret

    def opened(self, container, domain):
        """The slots of a domain that a password or the device opens."""
        return [(row, header) for row, header in self.slots(container)
                if domain in (None, row["domain"]) and header["kind"] in (1, 2)]

    def open(self, container, domain, password):
        for row, header in self.opened(container, domain):
            slot_key, secret = self.slot_key(container, row, header, password)
            if header["silent"]:
                outer = hkdf(secret, header["salt"], b"signet silent slot v1")
                return self.records(container, domain, xor(
                    open_gcm(outer, row["wrapped_key"], row["header"]), slot_key), secret)
            try:
                master_key = open_gcm(slot_key, row["wrapped_key"], row["header"])
            except InvalidTag:
                sys.exit("vault.py: the password is wrong")
            return self.records(container, domain, master_key, None)
        sys.exit(f"vault.py: neither a password nor the device opens “{domain}”")

    def keys(self, passwords):
        found = {}
        for container in self.containers():
            for row, header in self.opened(container["id"], None):
                for password in passwords if header["kind"] == 2 else [""]:
                    slot_key, _ = self.slot_key(container["id"], row, header, password)
                    try:
                        found[f"{row['domain']} of {container['id'].hex()}"] = open_gcm(slot_key, row["wrapped_key"], row["header"]).hex()
                    except InvalidTag:
                        pass
        return found

    # Sections 6 and 7: records
    def records(self, container, domain, master_key, silent_secret):
        found = {}
        rows = self.query("SELECT * FROM record WHERE container = ? AND domain = ? ORDER BY name", container, domain)
        self.check_part(container, domain, "records", *(field for row in rows for field in (row["name"], row["sealed"])))
        for row in rows:
            name = row["name"]
            context = canonical("signet record v1", self.vault, container, domain, name)
            if silent_secret is None:
                found[name] = open_gcm(master_key, row["sealed"], context).hex()
                continue
            inner = open_gcm(hkdf(silent_secret, self.vault, b"signet silent record v1"), row["sealed"], context)
            info = canonical("signet silent keystream v1", inner[1:17], context)
            plain = xor(inner[17:], expand(master_key, info, len(inner) - 17))
            if inner[0] == 2:
                plain = (int.from_bytes(plain, "big") % (ORDER - 1) + 1).to_bytes(32, "big")
            found[name] = plain.hex()
        return found

def main():
    require(len(sys.argv) in (2, 4) or sys.argv[2:] == ["--keys"], "usage: vault.py FOLDER [--keys | CONTAINER DOMAIN]")
    vault = Vault(sys.argv[1])
    if len(sys.argv) == 2:
        answer = [{
            "id": row["id"].hex(), "user": row["user_id"], "server": row["server"], "active": row["state"] == 1,
            "slots": [{"domain": slot["domain"], "kind": KINDS[header["kind"]], "lock": header["lock"],
                       "failed": slot["failed"]} for slot, header in vault.slots(row["id"])],
        } for row in vault.containers()]
    elif len(sys.argv) == 3:
        answer = vault.keys(sys.stdin.buffer.read().decode().split("\n"))
    else:
        answer = vault.open(bytes.fromhex(sys.argv[2]), sys.argv[3], sys.stdin.buffer.read().decode())
    print(json.dumps(answer))

main()
