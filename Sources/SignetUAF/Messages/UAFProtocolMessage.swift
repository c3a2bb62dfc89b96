package import SignetJSON

/// A message of the protocol: a server's request or a client's response.
package protocol UAFProtocolMessage: Sendable {
  static var operation: UAFOperation { get }
  /// The limits for the size of the text.
  static var limits: JSONLimits { get }
  var header: OperationHeader { get }
  var json: JSONObject { get }
  /// Parses an object of any version.
  init(_ object: JSONObject) throws(MessageFailure)
}

extension UAFProtocolMessage {
  /// Parses the message of the array with the highest version among `versions`.
  ///
  /// Elements of other versions are not validated: other rules may apply to them.
  ///
  /// - Parameters:
  ///   - text: The JSON text, UTF-8.
  ///   - versions: The supported versions.
  /// - Throws: ``MessageFailure`` if there is no such message or it is malformed.
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

  /// The JSON text of a list that contains only this message.
  package var text: String { [self].uafText }
}

extension Sequence where Element: UAFProtocolMessage {
  /// The JSON text of the list.
  package var uafText: String { JSONValue.dictionaries(map(\.json)).text }
}

/// The arrays in which messages are transported.
enum UAFMessageList {
  /// Returns the messages of an array.
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

  /// Returns the message with the highest version among `versions`.
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
