package import SignetJSON

/// The header of every message.
package struct OperationHeader: Hashable, Sendable {
  package let version: UAFVersion
  package let operation: UAFOperation
  /// The application in the server's words; `nil` or empty for the caller itself.
  package let appID: String?
  /// The server's opaque data, which the client returns unchanged.
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

  /// Parses a header outside a message.
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

package enum UAFOperation: String, Hashable, Sendable, CaseIterable {
  case registration = "Reg"
  case authentication = "Auth"
  case deregistration = "Dereg"
}

/// A version of the UAF protocol.
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
