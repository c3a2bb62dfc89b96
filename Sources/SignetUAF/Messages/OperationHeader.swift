package import SignetJSON

/// A version of the protocol.
package struct UAFVersion: Hashable, Sendable, Comparable, CustomStringConvertible {
  package let major: UInt16
  package let minor: UInt16

  package init(major: UInt16, minor: UInt16) { (self.major, self.minor) = (major, minor) }

  package static let v1_0 = UAFVersion(major: 1, minor: 0)
  package static let v1_1 = UAFVersion(major: 1, minor: 1)

  package var description: String { "\(major).\(minor)" }

  package static func < (left: UAFVersion, right: UAFVersion) -> Bool {
    (left.major, left.minor) < (right.major, right.minor)
  }

  init(_ reader: DictionaryReader) throws(MessageFailure) {
    major = try reader.number("major")
    minor = try reader.number("minor")
  }

  package var json: JSONObject { ["major": .number(major), "minor": .number(minor)] }
}

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

/// What a message is for.
package enum UAFOperation: String, Hashable, Sendable, CaseIterable {
  case registration = "Reg"
  case authentication = "Auth"
  case deregistration = "Dereg"
}

/// What every message begins with.
package struct OperationHeader: Hashable, Sendable {
  package let version: UAFVersion
  package let operation: UAFOperation
  /// The application, as the server named it; nil or empty where it is whoever asks.
  package let appID: String?
  /// What the server wrote for itself; comes back as it was.
  package let serverData: String?
  package let extensions: [UAFExtension]

  package init(
    version: UAFVersion = .v1_1, operation: UAFOperation, appID: String?, serverData: String? = nil,
    extensions: [UAFExtension] = []
  ) {
    self.version = version
    self.operation = operation
    self.appID = appID
    self.serverData = serverData
    self.extensions = extensions
  }

  /// Reads a header that stands by itself.
  package init(_ object: JSONObject) throws(MessageFailure) { try self.init(DictionaryReader(object)) }

  init(_ reader: DictionaryReader) throws(MessageFailure) {
    version = try UAFVersion(reader.dictionary("upv"))
    let name = try reader.string("op", 1...32)
    guard let operation = UAFOperation(rawValue: name) else { throw .operation(name) }
    self.operation = operation
    appID = try reader.optionalString("appID", 0...512)
    serverData = try reader.optionalString("serverData", 1...1536)
    extensions = try reader.extensions()
  }

  package var json: JSONObject {
    var object: JSONObject = ["upv": .object(version.json), "op": .string(operation.rawValue)]
    object.setOptional("appID", appID.map { .string($0) })
    object.setOptional("serverData", serverData.map { .string($0) })
    if !extensions.isEmpty { object["exts"] = extensions.json }
    return object
  }
}
