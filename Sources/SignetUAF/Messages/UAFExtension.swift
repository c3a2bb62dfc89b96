package import SignetJSON

/// More than the protocol says, in a message.
package struct UAFExtension: Hashable, Sendable {
  /// What it is, 1 to 32 characters.
  package let id: String
  /// What it says; may be empty.
  package let data: String
  /// Whether who does not know it has to give up.
  package let failIfUnknown: Bool

  package init(id: String, data: String, failIfUnknown: Bool) {
    (self.id, self.data, self.failIfUnknown) = (id, data, failIfUnknown)
  }

  init(_ reader: DictionaryReader) throws(MessageFailure) {
    id = try reader.string("id", 1...32)
    data = try reader.string("data", 0...65_536)
    failIfUnknown = try reader.bool("fail_if_unknown")
  }

  package var json: JSONObject {
    ["id": .string(id), "data": .string(data), "fail_if_unknown": .bool(failIfUnknown)]
  }
}

extension Sequence<UAFExtension> {
  /// The first extension that has to be known and is not among `known`.
  package func firstUnknown(except known: Set<String> = []) -> UAFExtension? {
    first { $0.failIfUnknown && !known.contains($0.id) }
  }

  var json: JSONValue { .dictionaries(map(\.json)) }
}
