"""Verifies a signed decision with a standard JOSE library (jwcrypto), as docs/protocol.md section 7 says.

    verify.py answer.json content.txt

answer.json is the server's answer about a transaction, content.txt what its creation was answered. Nothing of ours is used.
"""
import json, sys

from jwcrypto import jwk, jws

answer = json.load(open(sys.argv[1], encoding="utf-8"))
asked = open(sys.argv[2], encoding="utf-8", newline="").read().rstrip("\n")
key = jwk.JWK.from_pem(answer["decision"]["publicKeyPEM"].encode())
token = jws.JWS()
token.allowed_algs = ["ES256"]
token.deserialize(answer["decision"]["jws"], key)  # raises where the signature does not fit
header, signed = token.jose_header, json.loads(token.payload)
assert header["typ"] == "signet-decision" and header["kid"] == key.thumbprint(), "another kind of JWS, or another key"
for member, expected in {"content": asked, "status": "accepted", "transaction": answer["id"], "user": answer["user"],
                         "expires": answer["expires"]}.items():
    assert signed[member] == expected, f"another {member} was signed"
print("verified:", signed["status"])
