package import SignetStorage

/// The endpoints of the server, each defined once, in the file of its handlers.
package enum API {}

/// The id of the changed object.
package struct NamedByID: Message {
  package let id: String

  package init(_ id: ID<some Any>) { self.id = id.text }

  private init(id: String) { self.id = id }

  package static let schema = MessageSchema(Self.init(id:)) { Member("id", \Self.id) }
}

/// The user id of the changed object.
package struct NamedByUser: Message {
  package let user: String

  package static let schema = MessageSchema(Self.init) { Member("user", \Self.user) }
}
