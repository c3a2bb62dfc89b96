import SignetJSON
package import SignetStorage

package struct NewAPIKey: Message {
  package let name: String, displayName: String?, scopes: [APIKeyService.Scope]

  package init(name: String, displayName: String?, scopes: [APIKeyService.Scope]) {
    self.name = name
    self.displayName = displayName
    self.scopes = scopes
  }

  package static let schema = MessageSchema(Self.init) {
    Member("name", \Self.name, .text(1...128))
    Member("displayName", \Self.displayName, .text(1...128), "The name of the requester that users see.")
    Member("scopes", \Self.scopes, .list(1...))
  }
}

package struct MadeAPIKey: Message {
  package let id: ID<APIKeyRecord>, key: String

  package init(id: ID<APIKeyRecord>, key: String) { (self.id, self.key) = (id, key) }

  package static let schema = MessageSchema(Self.init) {
    Member("id", \Self.id)
    Member("key", \Self.key)
  }
}

package struct APIKeyList: Message {
  package struct Key: Message {
    package let id: ID<APIKeyRecord>, name: String, displayName: String?, scopes: [String], created: Int64,
      revoked: Int64?, altered: Bool

    package static let schema = MessageSchema(Self.init) {
      Member("id", \Self.id)
      Member("name", \Self.name)
      Member("displayName", \Self.displayName)
      Member("scopes", \Self.scopes)
      Member("created", \Self.created, .time)
      Member("revoked", \Self.revoked, .time)
      Member(
        "altered", \Self.altered,
        "Whether its row was not written by this server: the key is not accepted, and can be revoked.")
    }
  }
  package let keys: [Key]

  package static let schema = MessageSchema(Self.init) { Member("keys", \Self.keys) }
}

extension APIKeyService.Scope: Shaped {}

extension API {
  package static let addKey = Endpoint(
    .post, "/admin/keys", .manage, "addKey", "Create an API key", in: .keys, by: .admin,
    takes: .json(NewAPIKey.self, example: ["name": "shop", "scopes": ["relying-party"]]),
    answers: .created(MadeAPIKey.self, "The key, which is shown only once."))
  package static let listKeys = Endpoint(
    .get, "/admin/keys", .read, "listKeys", "List the API keys", in: .keys, by: .admin,
    answers: .json(APIKeyList.self, "All keys, revoked ones included, oldest first."))
  package static let revokeKey = Endpoint(
    .delete, "/admin/keys/{id}", .manage, "revokeKey", "Revoke an API key", in: .keys, by: .admin,
    answers: .json(NamedByID.self, "The key is revoked."), or: [.unknown, .conflict])
}

/// The endpoints with which operators manage API keys (`docs/protocol.md` section 7).
struct KeyEndpoints: Sendable {
  let keys: APIKeyService

  var routes: [Route] {
    [
      API.addKey.answered { [keys] call in
        let key = try await keys.create(
          name: call.input.name, displayName: call.input.displayName, scopes: call.input.scopes,
          by: call.caller.actor)
        return MadeAPIKey(id: key.id, key: key.text)
      },
      API.listKeys.answered { [keys] _ in
        APIKeyList(
          keys: try await keys.all().map { key in
            APIKeyList.Key(
              id: key.id, name: key.name, displayName: key.displayName, scopes: key.scopes,
              created: key.created, revoked: key.revoked,
              altered: key.isAltered)
          })
      },
      API.revokeKey.answered { [keys] call in
        let id: ID<APIKeyRecord> = call.id()
        try await keys.revoke(id, by: call.caller.actor)
        return NamedByID(id)
      },
    ]
  }
}
