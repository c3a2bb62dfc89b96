extension ServerURL {
  /// The short form `host[:port]/domain`, as typed and as carried by activation codes.
  public var shortForm: String { String(fullForm.dropFirst("https://".count)) }
  /// The full form `https://host[:port]/domain`: the server id.
  public var fullForm: String { description }

  init(wire text: String, member: String) throws(WireFailure) {
    do { try self.init(text) } catch {
      throw .invalid(member: member, reason: "is not a server URL: \(error)")
    }
  }

  /// Parses a server id, which must be in its canonical form: a comparison as text then gives the same result as `==`.
  init(serverID text: String, member: String = "server") throws(WireFailure) {
    try self.init(wire: text, member: member)
    guard fullForm.utf8.elementsEqual(text.utf8) else {
      throw .invalid(member: member, reason: "is not in the full form of a server id")
    }
  }
}
