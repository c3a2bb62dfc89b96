package import SignetJSON
import SignetProtocol
package import SignetStorage

/// A key that the server signs with, or has signed with.
package struct SigningKeyDescription: Message {
  package let id: String, created: Int64, retired: Int64?, altered: Bool
  package let succession: String?

  package static let schema = MessageSchema(Self.init, named: "SigningKey") {
    Member("id", \Self.id)
    Member("created", \Self.created, .time)
    Member("retired", \Self.retired, .time)
    Member(
      "altered", \Self.altered,
      "Whether its row was not written by this server: the key is neither used nor published.")
    Member(
      "succession", \Self.succession,
      "A JWS by the previous key, with which devices accept this one; absent for the first key, and for the successor of an altered or removed key."
    )
  }
}

extension SigningKeyDescription {
  init(_ record: SigningKeyRecord) {
    self.init(
      id: record.id, created: record.created, retired: record.retired, altered: record.isAltered,
      succession: record.isAltered ? nil : record.succession)
  }
}

package struct SigningKeyList: Message {
  package let keys: [SigningKeyDescription], missing: Bool

  package static let schema = MessageSchema(Self.init) {
    Member("keys", \Self.keys)
    Member(
      "missing", \Self.missing,
      "Whether the row of the current signing key was altered or removed: the server signs nothing until another key is created."
    )
  }
}

extension JSONSchema {
  /// A public key on P-256.
  static let jwk = JSONSchema([
    "type": "object", "required": ["kty", "crv", "x", "y"],
    "properties": [
      "kty": ["type": "string", "enum": ["EC"]], "crv": ["type": "string", "enum": ["P-256"]],
      "x": ["type": "string"], "y": ["type": "string"],
    ],
  ]).named("JWK")

  /// A public key on P-256 with its id, use and algorithm.
  static let signingJWK = JSONSchema(
    [
      "allOf": [
        .object(jwk.json),
        [
          "type": "object", "required": ["kid", "use", "alg"],
          "properties": [
            "kid": ["type": "string"], "use": ["type": "string", "enum": ["sig"]],
            "alg": ["type": "string", "enum": ["ES256"]],
          ],
        ],
      ]
    ], definitions: jwk.definitions)
}

/// The server's keys, and the successions in which each key signs its next one.
package struct PublishedKeys: Message {
  package let keys: [JSONObject], successions: [String]

  package static let schema = MessageSchema(Self.init, named: "KeySet") {
    Member("keys", \Self.keys, .list(.object(.signingJWK)))
    Member(
      "successions", \Self.successions,
      .list(Shape<String>.text().adding(["description": "A JWS of the type signet-key-succession."])))
  }
}

extension API {
  package static let publishKeys = Endpoint(
    .get, "/jwks", .publish, "publishKeys", "Get the server's public keys",
    details: "docs/protocol.md section 5.5", in: .server, by: .none,
    answers: .object(
      describedBy: PublishedKeys.described,
      "The keys that were used, oldest first, without those whose rows were altered; the last one signs, unless the present key is missing."
    ))
  package static let listSigningKeys = Endpoint(
    .get, "/admin/signing-keys", .read, "listSigningKeys", "List the signing keys of the server",
    in: .signingKeys, by: .admin, answers: .json(SigningKeyList.self, "Oldest first."))
  package static let rotateSigningKey = Endpoint(
    .post, "/admin/signing-keys", .manage, "rotateSigningKey",
    "Create a signing key, which signs from now on",
    in: .signingKeys, by: .admin, answers: .created(SigningKeyDescription.self, "The new key."))
}

/// The endpoints for the server's own keys: the public list, and their management by operators.
struct SigningKeyEndpoints: Sendable {
  let signingKeys: SigningKeyService

  var routes: [Route] {
    [
      API.publishKeys.answered { [signingKeys] _ in try await signingKeys.published().json },
      API.listSigningKeys.answered { [signingKeys] _ in
        let keys = try await signingKeys.records()
        return SigningKeyList(
          keys: keys.all.map { SigningKeyDescription($0) }, missing: keys.isPresentMissing)
      },
      API.rotateSigningKey.answered { [signingKeys] call in
        SigningKeyDescription(try await signingKeys.rotate(by: call.caller.actor))
      },
    ]
  }
}
