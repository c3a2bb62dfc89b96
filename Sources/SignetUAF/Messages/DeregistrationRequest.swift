package import SignetJSON

/// A server's request to delete keys.
package struct DeregistrationRequest: UAFProtocolMessage, Hashable {
  /// The keys to delete.
  package enum Target: Hashable, Sendable {
    /// All keys of the application.
    case everything
    /// All keys of a model.
    case model(AAID)
    /// A single key.
    case key(KeyReference)
  }

  package static let operation = UAFOperation.deregistration
  package static let limits = JSONLimits.standard
  package let header: OperationHeader
  /// The keys to delete; `everything` must be the only target.
  package let targets: [Target]

  package init(header: OperationHeader, targets: [Target]) {
    (self.header, self.targets) = (header, targets)
  }

  package init(_ object: JSONObject) throws(MessageFailure) {
    let reader = DictionaryReader(object)
    header = try OperationHeader(reader.dictionary("header"))
    targets = try reader.list("authenticators") { value, path throws(MessageFailure) in
      try Target(DictionaryReader(value, path))
    }
    guard targets.count == 1 || !targets.contains(.everything) else {
      throw reader.failure("authenticators", .conflict)
    }
  }

  package var json: JSONObject {
    ["header": .object(header.json), "authenticators": .dictionaries(targets.map(\.json))]
  }
}

extension DeregistrationRequest.Target {
  /// Parses a target outside a message.
  package init(_ object: JSONObject) throws(MessageFailure) { try self.init(DictionaryReader(object)) }

  init(_ reader: DictionaryReader) throws(MessageFailure) {
    let model = try reader.string("aaid", 0...9)
    let key = try reader.string("keyID", 0...2732)
    guard !model.isEmpty else {
      guard key.isEmpty else { throw reader.failure("keyID", .conflict) }
      self = .everything
      return
    }
    guard let aaid = AAID(model) else { throw reader.failure("aaid", .form) }
    if key.isEmpty {
      self = .model(aaid)
    } else {
      self = .key(
        KeyReference(aaid: aaid, keyID: try DictionaryReader.keyID(.string(key), reader.name("keyID"))))
    }
  }

  var json: JSONObject {
    switch self {
    case .everything: ["aaid": "", "keyID": ""]
    case .model(let aaid): ["aaid": .string(aaid.text), "keyID": ""]
    case .key(let key): ["aaid": .string(key.aaid.text), "keyID": .string(key.keyID.text)]
    }
  }
}
