package import SignetJSON

/// A message of the protocol: a request of a server, or a client's response.
package protocol UAFProtocolMessage: Sendable {
  /// What the message is for.
  static var operation: UAFOperation { get }
  /// The largest text that is read.
  static var limits: JSONLimits { get }
  /// What the message begins with.
  var header: OperationHeader { get }
  /// The message as an object.
  var json: JSONObject { get }
  /// Reads an object, whatever its version.
  init(_ object: JSONObject) throws(MessageFailure)
}

extension UAFProtocolMessage {
  /// Reads the one message of the array that is of the highest version among `versions`.
  ///
  /// Elements of other versions are not looked at: who wrote them may follow other rules there.
  ///
  /// - Parameters:
  ///   - text: The JSON text, UTF-8.
  ///   - versions: What the caller supports.
  /// - Throws: ``MessageFailure``.
  package init(parsing text: [UInt8], versions: [UAFVersion]) throws(MessageFailure) {
    let value: JSONValue
    do throws(JSONFailure) {
      value = try JSONValue(parsing: text, limits: Self.limits)
    } catch {
      throw .json(error)
    }
    try self.init(UAFMessageList.choose(UAFMessageList.elements(value), among: versions))
    guard header.operation == Self.operation else { throw .operation(header.operation.rawValue) }
  }

  /// The JSON text of a list with this message alone.
  package var text: String { [self].uafText }
}

extension Sequence where Element: UAFProtocolMessage {
  /// The JSON text of the list.
  package var uafText: String { JSONValue.dictionaries(map(\.json)).text }
}

/// The arrays that messages travel in.
enum UAFMessageList {
  /// The messages of an array.
  static func elements(_ value: JSONValue) throws(MessageFailure) -> [JSONObject] {
    guard case .array(let elements) = value else { throw .notAnArray }
    guard !elements.isEmpty else { throw .noMessage }
    var objects: [JSONObject] = []
    for element in elements {
      guard case .object(let object) = element else { throw .noMessage }
      objects.append(object)
    }
    return objects
  }

  /// The one message of the highest version among `versions`.
  static func choose(
    _ objects: [JSONObject], among versions: [UAFVersion]
  ) throws(MessageFailure) -> JSONObject {
    var best: (version: UAFVersion, object: JSONObject)?
    var seen: [UAFVersion] = []
    for object in objects {
      let version = try UAFVersion(DictionaryReader(object).dictionary("header").dictionary("upv"))
      guard !seen.contains(version) else { throw .repeatedVersion(version) }
      seen.append(version)
      if versions.contains(version), best.map({ $0.version < version }) ?? true { best = (version, object) }
    }
    guard let best else { throw .unsupportedVersion }
    return best.object
  }
}
