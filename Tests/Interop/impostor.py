"""Attacks on who owns a key, by the messages of docs/protocol.md: what an impostor with an invite of his own sends.

    impostor.py --ca ca.pem --victim state.json WHAT[,WHAT...] CODE-FILE...
    impostor.py --ca ca.pem --victim state.json --own mallory.json WHAT[,WHAT...]

The first activates, each time with a code of its own, the second renews a container of the impostor's own. States are those of client.py;
the impostor takes public keys out of the victim's, never private ones. Prints one JSON object a line for each: at which request the
server refused, with its answer, or "confirmed".
Section numbers are those of docs/protocol.md.
"""
import argparse, hmac, json, os, sys

import argon2.low_level as argon2
import client
from client import b64, es256, hs256, load_key, parse, sign, thumbprint_of, to_jwk, unb64

def attempt(ca, server, pins, path, body, state=None):
    try:
        return client.send(ca, server, pins, "POST", path, body, state), None
    except SystemExit as refusal:
        return None, {"refused": path, "answer": str(refusal)}

def shown(jwks, own, t2):
    """What should show that the impostor has the signing key that he names."""
    header = {"alg": "ES256", "typ": "signet-possession", "kid": thumbprint_of(jwks["signing"])}
    return sign(header, json.dumps({"version": 1, "transcript": b64(t2)}, separators=(",", ":")).encode(), es256(own))

def activate(ca, victim, what, code):
    user, server, pins, invite = code["uid"], code["url"], code["pin"], client.invite_text(code["inv"])
    start = json.dumps({"version": 1, "user": user, "nonce": b64(os.urandom(32))}).encode()
    answer = parse(client.send(ca, server, pins, "POST", "/activation/start", start))
    offer = parse(unb64(answer["offer"]))
    kdf = offer["kdf"]
    ephemeral, keys, jwks = client.new_keys()
    stolen = {name: to_jwk(load_key(victim[name])) for name in ("session", "encryption", "signing")}
    if what in stolen:
        jwks[what] = stolen[what]
    if what == "stranger-encryption":  # a key that nobody has registered yet, and that the impostor does not have
        jwks["encryption"] = client.new_keys()[2]["encryption"]
    if what == "swapped":  # the victim's signing key as a session key
        jwks["session"] = stolen["signing"]
    core = json.dumps({"version": 1, "user": user, "server": f"https://{server}", "agreement": to_jwk(ephemeral),
                       "keys": jwks, "device": {"id": b64(os.urandom(16)), "name": "impostor", "platform": "linux",
                                                "keystore": "software"}}).encode()
    invite_key = argon2.hash_secret_raw(invite, unb64(offer["salt"]), kdf["passes"], kdf["memory"], kdf["lanes"], 32,
                                        argon2.Type.ID, 0x13)
    t2, device_proof, server_proof, _ = client.secrets(ephemeral, offer, invite_key, start, answer, core)
    message = sign({"alg": "HS256", "typ": "signet-activation"}, core, hs256(device_proof))
    finish = {"handshake": answer["handshake"], "message": message, "possession": shown(jwks, load_key(keys["signing"]), t2)}
    if what == "without":
        del finish["possession"]
    received, refusal = attempt(ca, server, pins, "/activation/finish", json.dumps(finish).encode())
    if refusal:
        return refusal
    signed, _, mac = parse(received)["message"].rpartition(".")
    client.require(hmac.compare_digest(hs256(server_proof)(signed.encode()), unb64(mac)), "the receipt is not the server's")
    receipt = parse(unb64(signed.split(".")[1]))
    state = keys | {"container": receipt["container"]}
    guess = {"stranger-encryption": {"confirmation": b64(os.urandom(32))}}.get(what, {})
    _, refusal = attempt(ca, server, pins, "/activation/confirm", json.dumps(guess).encode(), state)
    return refusal or {"confirmed": receipt["container"]}

def renew(ca, victim, what, own):
    server, pins, container = own["server"], own["pins"], own["container"]
    start = json.dumps({"version": 1, "container": container, "nonce": b64(os.urandom(32))}).encode()
    answer = parse(client.send(ca, server, pins, "POST", "/renewal/start", start, own))
    offer = parse(unb64(answer["offer"]))
    ephemeral, keys, jwks = client.new_keys()
    jwks[what] = to_jwk(load_key(victim[what]))
    core = json.dumps({"version": 1, "container": container, "user": own["user"], "server": f"https://{server}",
                       "agreement": to_jwk(ephemeral), "keys": jwks,
                       "device": {"id": own["device"], "name": "impostor", "platform": "linux", "keystore": "software"}}).encode()
    t2, device_proof, _, _ = client.secrets(ephemeral, offer, client.renewal_key(own), start, answer, core)
    signing = load_key(own["signing"])
    message = sign({"alg": "ES256", "typ": "signet-renewal", "kid": thumbprint_of(to_jwk(signing))}, core, es256(signing))
    finish = {"handshake": answer["handshake"], "message": message,
              "proof": b64(hmac.digest(device_proof, message.encode(), "sha256")),
              "possession": shown(jwks, load_key(keys["signing"]), t2)}
    received, refusal = attempt(ca, server, pins, "/renewal/finish", json.dumps(finish).encode(), own)
    return refusal or {"confirmed": received.decode()}

def main():
    parser = argparse.ArgumentParser(description="Attacks on who owns a key.")
    parser.add_argument("--ca", required=True)
    parser.add_argument("--victim", required=True)
    parser.add_argument("what")
    parser.add_argument("--own")
    parser.add_argument("code", nargs="*")
    given = parser.parse_args()
    attacks = given.what.split(",")
    unknown = set(attacks) - {"session", "encryption", "signing", "stranger-encryption", "swapped", "without", "nothing"}
    if unknown:
        parser.error(f"no attack: {', '.join(sorted(unknown))}")
    files = [given.own] * len(attacks) if given.own else given.code
    if len(files) != len(attacks):
        parser.error("each attack that activates has a code of its own")
    with open(given.victim) as file:
        victim = json.load(file)
    attack = renew if given.own else activate
    for what, path in zip(attacks, files):
        with open(path) as mine:
            print(json.dumps(attack(given.ca, victim, what, parse(mine.read()))))

if __name__ == "__main__":
    main()
