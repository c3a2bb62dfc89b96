import SignetJOSE
package import SignetJSON
import SignetProtocol
package import SignetStorage

extension ClientRecord.Authentication: Shaped {}
extension ClientRecord.Delivery: Shaped {}

package struct NewClient: Message {
  package let name: String, authentication: ClientRecord.Authentication, delivery: ClientRecord.Delivery
  package let notificationEndpoint: String?, requestAlgorithm: String?, numberDigits: Int64?
  package let jwks: JSONObject?

  package init(
    name: String, authentication: ClientRecord.Authentication, delivery: ClientRecord.Delivery,
    notificationEndpoint: String?, requestAlgorithm: String?, numberDigits: Int64?, jwks: JSONObject?
  ) {
    self.name = name
    self.authentication = authentication
    self.delivery = delivery
    self.notificationEndpoint = notificationEndpoint
    self.requestAlgorithm = requestAlgorithm
    self.numberDigits = numberDigits
    self.jwks = jwks
  }

  package static let schema = MessageSchema(Self.init) {
    Member("name", \Self.name, .text(1...128), "The name of the requester that users see.")
    Member("authentication", \Self.authentication)
    Member("delivery", \Self.delivery)
    Member(
      "notificationEndpoint", \Self.notificationEndpoint, .text(...1024),
      "The endpoint for notifications, an https URL; for ping and push.")
    Member(
      "requestAlgorithm", \Self.requestAlgorithm,
      .oneOf(OpenIDNames.clientAlgorithms.map(\.rawValue)))
    Member(
      "numberDigits", \Self.numberDigits, .integer(2...6),
      "The number of digits of the number that the client displays.")
    Member("jwks", \Self.jwks, .object(.keySet), "Its public keys, a JWK Set.")
  }
}

extension JSONSchema {
  /// A client's JWK Set; `ClientRegistration` parses it.
  static let keySet = JSONSchema([
    "type": "object", "required": ["keys"],
    "properties": [
      "keys": [
        "type": "array", "items": ["type": "object"], "minItems": 1,
        "maxItems": .integer(Int64(ClientRegistration.maximumKeyCount)),
      ]
    ],
  ])
}

package struct MadeClient: Message {
  package let id: ID<ClientRecord>, secret: String?, issuer: String

  package static let schema = MessageSchema(Self.init) {
    Member("id", \Self.id)
    Member("secret", \Self.secret)
    Member("issuer", \Self.issuer)
  }
}

/// A client in operators' lists.
package struct ClientDescription: Message {
  package let id: ID<ClientRecord>, name: String, authentication: ClientRecord.Authentication
  package let delivery: ClientRecord.Delivery, notificationEndpoint: String?, requestAlgorithm: String?
  package let numberDigits: Int64?, jwks: JSONObject?, created: Int64, revoked: Int64?
  package let altered: Bool

  package static let schema = MessageSchema(Self.init, named: "Client") {
    Member("id", \Self.id)
    Member("name", \Self.name)
    Member("authentication", \Self.authentication)
    Member("delivery", \Self.delivery)
    Member("notificationEndpoint", \Self.notificationEndpoint)
    Member("requestAlgorithm", \Self.requestAlgorithm)
    Member("numberDigits", \Self.numberDigits, .integer(2...6).ofRow)
    Member("jwks", \Self.jwks)
    Member("created", \Self.created, .time)
    Member("revoked", \Self.revoked, .time)
    Member(
      "altered", \Self.altered,
      "Whether its row was not written by this server: the client is not accepted, and can be revoked.")
  }
}

extension ClientDescription {
  init(_ record: ClientRecord) throws(JSONFailure) {
    self.init(
      id: record.id, name: record.name, authentication: record.authentication, delivery: record.delivery,
      notificationEndpoint: record.notificationEndpoint, requestAlgorithm: record.requestAlgorithm,
      numberDigits: record.numberDigits.map { Int64($0) },
      jwks: record.isAltered
        ? nil : try record.keySet.map { (set) throws(JSONFailure) in try JSONObject(parsing: set) },
      created: record.created, revoked: record.revoked, altered: record.isAltered)
  }
}

package struct ClientList: Message {
  package let clients: [ClientDescription]

  package static let schema = MessageSchema(Self.init) { Member("clients", \Self.clients) }
}

extension API {
  package static let addClient = Endpoint(
    .post, "/admin/clients", .manage, "addClient", "Register a client", in: .openID, by: .admin,
    takes: .json(
      NewClient.self,
      example: ["name": "shop", "authentication": "client_secret_basic", "delivery": "poll"]),
    answers: .created(MadeClient.self, "The client; its secret is shown only once."))
  package static let listClients = Endpoint(
    .get, "/admin/clients", .read, "listClients", "List the clients", in: .openID, by: .admin,
    answers: .json(ClientList.self, "All clients, revoked ones included."))
  package static let showClient = Endpoint(
    .get, "/admin/clients/{id}", .read, "showClient", "A client", in: .openID, by: .admin,
    answers: .json(ClientDescription.self, "The client."), or: [.unknown])
  package static let revokeClient = Endpoint(
    .delete, "/admin/clients/{id}", .manage, "revokeClient", "Revoke a client", in: .openID, by: .admin,
    answers: .json(NamedByID.self, "The client is revoked."), or: [.unknown])
}

/// The endpoints with which operators manage OpenID Connect clients (`docs/protocol.md` section 7).
struct ClientEndpoints: Sendable {
  let context: ServiceContext
  let clients: ClientService

  var routes: [Route] {
    [
      API.addClient.answered { [context, clients] call in
        let made = try await clients.add(ClientRegistration(call.input), by: call.caller.actor)
        return MadeClient(
          id: made.record.id, secret: made.secret, issuer: context.settings.serverURL.fullForm)
      },
      API.listClients.answered { [clients] _ in
        ClientList(clients: try await clients.all().map { try ClientDescription($0) })
      },
      API.showClient.answered { [clients] call in
        try ClientDescription(await clients.find(call.id()))
      },
      API.revokeClient.answered { [clients] call in
        let id: ID<ClientRecord> = call.id()
        try await clients.revoke(id, by: call.caller.actor)
        return NamedByID(id)
      },
    ]
  }
}
