extension ServerURL {
  /// `host[:port]/domain`: what people type and codes carry.
  public var shortForm: String { String(fullForm.dropFirst("https://".count)) }
  /// `https://host[:port]/domain`: the server id.
  public var fullForm: String { description }

  init(wire text: String, member: String) throws(WireFailure) {
    do { try self.init(text) } catch { throw .invalid(member: member, reason: "is no server URL: \(error)") }
  }

  /// Reads a server id, which has one written form: who compares it as text gets the same answer as we do.
  init(serverID text: String, member: String = "server") throws(WireFailure) {
    try self.init(wire: text, member: member)
    guard fullForm.utf8.elementsEqual(text.utf8) else {
      throw .invalid(member: member, reason: "is not in the full form of a server id")
    }
  }
}
