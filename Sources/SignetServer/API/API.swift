package import SignetStorage

/// The endpoints of the server, each defined once; those of a group stand beside their handlers.
package enum API {}

/// The thing that something was done with.
package struct NamedByID: Message {
  package let id: String

  package init(_ id: ID<some Any>) { self.id = id.text }

  private init(id: String) { self.id = id }

  package static let schema = MessageSchema(Self.init(id:)) { Member("id", \Self.id) }
}

/// The user that something was done with.
package struct NamedByUser: Message {
  package let user: String

  package static let schema = MessageSchema(Self.init) { Member("user", \Self.user) }
}
