"""joserfc: verifies an ES256 JWS and decrypts an ECDH-ES JWE, each from its compact form, under keys that are kept.

The dialogue is the one of peer.h.
"""

import json
import sys
import time

from joserfc import jwe, jws
from joserfc.jwk import ECKey

inputs = {}
keys = {}
allowed = {"algorithms": ["ECDH-ES", "A256GCM"]}


def verify():
    jws.deserialize_compact(inputs["jws"], keys["signing-key"], algorithms=["ES256"])


def decrypt():
    if not jwe.decrypt_compact(inputs["jwe"], keys["agreement-key"], **allowed).plaintext:
        raise ValueError("nothing was decrypted")


operations = {"verify": verify, "decrypt": decrypt}

for line in sys.stdin:
    verb, name, rest = line.rstrip("\n").split(" ", 2)
    if verb == "set":
        if name.endswith("-key"):
            keys[name] = ECKey.import_key(json.loads(rest))
        else:
            inputs[name] = rest
        continue
    operation = operations[name]
    start = time.thread_time_ns()
    for _ in range(int(rest)):
        operation()
    print(time.thread_time_ns() - start, flush=True)
