"""Lets schemathesis speak for a relying party, an operator and a device (docs/protocol.md sections 4 and 7).

SIGNET_API_KEY names a file with an API key of both scopes, SIGNET_API_STATE the state file of client.py. A client of
OpenID Connect is registered here.
"""
import json, os, sys, time

import hypothesis.configuration
import requests
import requests.auth
import schemathesis

import client

# Hypothesis takes seconds to make its tables of characters: they stay with the installed packages, and not in the run's folder.
if sys.prefix != sys.base_prefix:
    hypothesis.configuration.set_hypothesis_home_dir(os.path.join(sys.prefix, "hypothesis"))

class DeviceAuth(requests.auth.AuthBase):
    """Signs each request as it is sent, body and all."""

    def __init__(self, state):
        self.state = state

    def __call__(self, request):
        body = request.body or b""
        proof = {"method": request.method, "path": request.path_url.split("?")[0],
                 "body": client.b64(client.sha256(body.encode() if isinstance(body, str) else body)),
                 "time": int(time.time()), "id": client.b64(os.urandom(16))}
        header = {"alg": "ES256", "typ": "signet-request", "kid": self.state["container"]}
        signer = client.es256(client.load_key(self.state["session"]))
        request.headers["Authorization"] = "Signet " + client.sign(header, json.dumps(proof).encode(), signer)
        return request

class KeyAuth(requests.auth.AuthBase):
    def __init__(self, key):
        self.key = key

    def __call__(self, request):
        request.headers["Authorization"] = "Bearer " + self.key
        return request

def read(variable):
    with open(os.environ[variable], encoding="utf-8") as file:
        return file.read()

STATE = json.loads(read("SIGNET_API_STATE"))
KEY = read("SIGNET_API_KEY").split("\n")[0]

def registered():
    """A client that polls: its id and secret."""
    answer = requests.post(f"https://{STATE['server']}/v1/admin/clients", verify=os.environ["SIGNET_API_CA"],
                           headers={"Authorization": "Bearer " + KEY},
                           json={"name": "tried", "authentication": "client_secret_basic", "delivery": "poll"})
    answer.raise_for_status()
    return answer.json()["id"], answer.json()["secret"]

CLIENT = registered()

@schemathesis.hook
def filter_case(context, case):
    """Keeps the key, the container and the client that all of this is done with."""
    return (case.path_parameters or {}).get("id") not in (STATE["container"], KEY.split("_")[1], CLIENT[0])

DEVICE = r"^/v1/(device/(?!end)|renewal/|activation/confirm)"
schemathesis.auth.set_from_requests(DeviceAuth(STATE)).apply_to(path_regex=DEVICE)
schemathesis.auth.set_from_requests(KeyAuth(KEY)).apply_to(
    path_regex=r"^/v1/(otp|transactions|admin|pushauth/messages)")
schemathesis.auth.set_from_requests(requests.auth.HTTPBasicAuth(*CLIENT)).apply_to(path_regex=r"^/oidc/")
