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
      "Whether its row is not the server's: it is good for nothing, and not published.")
    Member(
      "succession", \Self.succession,
      "A JWS of the key before, by which devices follow; none of the first, and of one that came after an altered or removed one."
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
      "Whether the row of the key that signs was altered or removed: nothing is signed until another is made."
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
    .get, "/jwks", .publish, "publishKeys", "The keys of the server",
    details: "docs/protocol.md section 5.5", in: .server, by: .none,
    answers: .object(
      describedBy: PublishedKeys.described,
      "The keys that were used, oldest first, without those whose rows were altered; the last one signs, unless the present key is missing."
    ))
  package static let listSigningKeys = Endpoint(
    .get, "/admin/signing-keys", .read, "listSigningKeys", "The keys that the server has signed with",
    in: .signingKeys, by: .admin, answers: .json(SigningKeyList.self, "Oldest first."))
  package static let rotateSigningKey = Endpoint(
    .post, "/admin/signing-keys", .manage, "rotateSigningKey", "Sign with a new key from now on",
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
