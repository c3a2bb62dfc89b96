"""A client of OpenID Connect CIBA made with Authlib, which knows nothing of our code: it reads the discovery document, asks,
polls or is told over HTTPS, and verifies ID tokens with the keys of jwks_uri.

The command line has one JSON object: "certificate" and "key" (paths) of its notification endpoint, and "ca", the path of the
certificates that it trusts. Standard output begins with {"port":N,"keys":JWK Set}. Each line on standard input is a command
and is answered by one line:
  {"client":{"issuer":…,"id":…,"secret":…,"algorithm":…}}   who it is; without a secret it signs, requests too with an algorithm
  {"ask":{…}}            an authentication request with these parameters
  {"poll":"auth_req_id"} a token request
  {"answers":[status,…]} what the next notices get; 204 after them
  {"notices":N}          waits for N notices and says what they were
"""
import http.server
import json
import queue
import secrets
import ssl
import sys
import threading
import time

from authlib.integrations.requests_client import OAuth2Session
from authlib.oauth2.rfc7523 import PrivateKeyJWT
from authlib.oidc.core import CodeIDToken
from joserfc import jwk, jwt

setup = json.loads(sys.argv[1])
key = jwk.ECKey.generate_key("P-256", {"kid": "c1", "use": "sig", "alg": "ES256"})
notices = queue.Queue()
answers = queue.Queue()


class Callback(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status = answers.get_nowait() if not answers.empty() else 204
        notices.put({"path": self.path, "authorization": self.headers["Authorization"],
                     "type": self.headers["Content-Type"], "body": json.loads(body), "answered": status})
        self.send_response(status)
        if 300 <= status < 400:
            self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *words):
        pass


class Client:
    def __init__(self, issuer, id, secret=None, algorithm=None):
        self.id, self.algorithm = id, algorithm
        method = "client_secret_basic" if secret else "private_key_jwt"
        self.session = OAuth2Session(id, secret or key, token_endpoint_auth_method=method)
        self.session.verify = setup["ca"]
        self.session.trust_env = False  # else the environment's certificates go first
        self.found = self.get(issuer + "/.well-known/openid-configuration")
        assert self.found["issuer"] == issuer
        assert method in self.found["token_endpoint_auth_methods_supported"]
        self.session.register_client_auth_method(PrivateKeyJWT(self.found["token_endpoint"], alg="ES256"))

    def get(self, url):
        answer = self.session.get(url, withhold_token=True)
        answer.raise_for_status()
        return answer.json()

    def post(self, url, form):
        method = self.session.token_endpoint_auth_method
        answer = self.session.post(url, data=form, auth=self.session.client_auth(method), withhold_token=True)
        assert answer.headers["Cache-Control"] == "no-store"
        return {"status": answer.status_code, "body": answer.json()}

    def ask(self, parameters):
        form = {"scope": "openid", **parameters}
        if self.algorithm:
            now = int(time.time())
            claims = {"iss": self.id, "aud": self.found["issuer"], "iat": now, "nbf": now, "exp": now + 60,
                      "jti": secrets.token_urlsafe(16), **form}
            form = {"request": jwt.encode({"alg": self.algorithm, "kid": "c1"}, claims, key)}
        return self.post(self.found["backchannel_authentication_endpoint"], form)

    def poll(self, id):
        answer = self.post(self.found["token_endpoint"],
                           {"grant_type": "urn:openid:params:grant-type:ciba", "auth_req_id": id})
        if answer["status"] == 200:
            answer["claims"] = self.verified(answer["body"])
        return answer

    def verified(self, tokens):
        """The claims of the ID token, with everything checked that OpenID Connect Core section 3.1.3.7 says."""
        keys = jwk.KeySet.import_key_set(self.get(self.found["jwks_uri"]))
        token = jwt.decode(tokens["id_token"], keys, algorithms=self.found["id_token_signing_alg_values_supported"])
        options = {"iss": {"essential": True, "value": self.found["issuer"]},
                   "aud": {"essential": True, "value": self.id}, "at_hash": {"essential": True}}
        claims = CodeIDToken(token.claims, token.header, options,
                             {"client_id": self.id, "access_token": tokens["access_token"]})
        claims.validate(leeway=5)
        # The user's own signature, under the key that the token names; only a container makes one.
        decision = None
        if "signet_decision" in claims:
            key = jwk.ECKey.import_key(claims["signet_key"])
            decision = jwt.decode(claims["signet_decision"], key, algorithms=["ES256"]).claims
        access = jwt.decode(tokens["access_token"], keys, algorithms=["ES256"])
        assert access.header["typ"] == "at+jwt" and access.claims["client_id"] == self.id
        return {**claims, "decision": decision}


def heard(count):
    found = [notices.get(timeout=200) for _ in range(count)]
    for notice in found:
        if "id_token" in notice["body"]:
            notice["claims"] = client.verified(notice["body"])
    return {"notices": found}


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Callback)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(setup["certificate"], setup["key"])
server.socket = context.wrap_socket(server.socket, server_side=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(json.dumps({"port": server.server_port, "keys": {"keys": [key.as_dict(private=False)]}}), flush=True)

for line in sys.stdin:
    (name, value), = json.loads(line).items()
    if name == "client":
        client = Client(**value)
        answer = {"discovery": client.found}
    elif name == "ask":
        answer = client.ask(value)
    elif name == "poll":
        answer = client.poll(value)
    elif name == "answers":
        for status in value:
            answers.put(status)
        answer = {}
    else:
        answer = heard(value)
    print(json.dumps(answer), flush=True)
