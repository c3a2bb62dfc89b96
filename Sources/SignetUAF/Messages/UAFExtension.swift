package import SignetJSON

/// An extension within a message.
package struct UAFExtension: Hashable, Sendable {
  /// The id of the extension, 1 to 32 characters.
  package let id: String
  /// The content of the extension; may be empty.
  package let data: String
  /// Indicates whether a recipient that does not know the extension must fail.
  package let failIfUnknown: Bool

  package init(id: String, data: String, failIfUnknown: Bool) {
    self.id = id
    self.data = data
    self.failIfUnknown = failIfUnknown
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
  /// Returns the first extension that must not be ignored and is not in `knownExtensions`.
  package func firstUnknown(except knownExtensions: Set<String> = []) -> UAFExtension? {
    first { $0.failIfUnknown && !knownExtensions.contains($0.id) }
  }

  var json: JSONValue { .dictionaries(map(\.json)) }
}
