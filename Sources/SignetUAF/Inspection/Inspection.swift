import SignetCrypto
import SignetJSON

/// What can be said about a response or an assertion without knowing what was asked.
///
/// It is for people who look at a message, and for comparing with other implementations; a server verifies.
package struct Inspection: Sendable {
  /// What was looked at.
  package enum Kind: String, Sendable {
    case registrationResponse
    case authenticationResponse
    case registrationAssertion
    case authenticationAssertion
  }

  /// Why there is nothing to say.
  package enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text is no response.
    case message(MessageFailure)
    /// The assertion is not of the scheme that is known.
    case scheme(String)
    /// An assertion cannot be read.
    case assertion(AssertionFailure)

    package var description: String {
      switch self {
      case .message(let failure): failure.description
      case .scheme(let scheme): "the assertion scheme \"\(scheme.prefix(64))\" is not known"
      case .assertion(let failure): failure.description
      }
    }
  }

  /// What was looked at.
  package let kind: Kind
  /// What a response begins with.
  package let header: OperationHeader?
  /// The final challenge of a response.
  package let finalChallenge: FinalChallenge?
  /// What each assertion says: at least one.
  package let assertions: [AssertionInspection]

  /// Reads a response.
  ///
  /// - Parameters:
  ///   - response: The JSON text: an array, one message of it, or the object that carries it over HTTP.
  ///   - key: The key of an authentication; nil where it is not known.
  ///   - isStrict: Whether numbers in DER have to be minimal.
  /// - Throws: ``Failure``.
  package init(
    response: String, key: InspectionKey? = nil, isStrict: Bool = false
  ) throws(Failure) {
    let (object, operation) = try Self.message(response)
    let found: (OperationHeader, FinalChallenge, [ResponseAssertion])
    do throws(MessageFailure) {
      switch operation {
      case .registration:
        let message = try RegistrationResponse(object)
        found = (message.header, message.finalChallenge, message.assertions)
      case .authentication:
        let message = try AuthenticationResponse(object)
        found = (message.header, message.finalChallenge, message.assertions)
      case .deregistration: throw .operation(operation.rawValue)
      }
    } catch {
      throw .message(error)
    }
    (header, finalChallenge) = (found.0, found.1)
    kind = operation == .registration ? .registrationResponse : .authenticationResponse
    var assertions: [AssertionInspection] = []
    for item in found.2 {
      guard item.scheme == ResponseAssertion.tlvScheme else { throw .scheme(item.scheme) }
      let assertion = try AssertionInspection(item.bytes, found.1.hash, key, isStrict: isStrict)
      guard assertion.isRegistration == (operation == .registration) else {
        throw .assertion(.topTag(assertion.topTag))
      }
      assertions.append(assertion)
    }
    self.assertions = assertions
  }

  /// Reads an assertion alone.
  ///
  /// - Parameters:
  ///   - assertion: Its bytes.
  ///   - text: The text of `fcParams`; nil where it is not known.
  ///   - key: The key of an authentication; nil where it is not known.
  ///   - isStrict: Whether numbers in DER have to be minimal.
  /// - Throws: ``Failure``.
  package init(
    assertion: [UInt8], finalChallenge text: String? = nil, key: InspectionKey? = nil, isStrict: Bool = false
  ) throws(Failure) {
    header = nil
    finalChallenge = nil
    let hash = text.map { HashFunction.sha256.digest(of: $0.utf8Span.span.bytes) }
    let found = try AssertionInspection(assertion, hash, key, isStrict: isStrict)
    kind = found.isRegistration ? .registrationAssertion : .authenticationAssertion
    assertions = [found]
  }

  /// Why it is not to be accepted; empty where nothing speaks against it.
  package var objections: [String] {
    var objections: [String] = []
    if let unknown = header?.extensions.firstUnknown() {
      objections.append("the extension \"\(unknown.id)\" must not be ignored and is not known")
    }
    if let appID = header?.appID, let params = finalChallenge?.params, !appID.isEmpty,
      !appID.utf8.elementsEqual(params.appID.utf8)
    {
      objections.append("the appID of the header is not the one of fcParams")
    }
    return objections + assertions.flatMap(\.objections)
  }

  private static let versions = [UAFVersion.v1_0, .v1_1]

  /// The one message of a supported version, and what it is for.
  private static func message(_ text: String) throws(Failure) -> (JSONObject, UAFOperation) {
    do throws(MessageFailure) {
      let header: OperationHeader
      let object: JSONObject
      (object, header) = try choose(try elements(Array(text.utf8)))
      return (object, header.operation)
    } catch {
      throw .message(error)
    }
  }

  private static func choose(_ objects: [JSONObject]) throws(MessageFailure) -> (JSONObject, OperationHeader)
  {
    var best: (JSONObject, OperationHeader)?
    for object in objects {
      let header = try OperationHeader(DictionaryReader(object).dictionary("header"))
      if let best, best.1.version == header.version { throw .repeatedVersion(header.version) }
      if versions.contains(header.version), best.map({ $0.1.version < header.version }) ?? true {
        best = (object, header)
      }
    }
    guard let best else { throw .unsupportedVersion }
    return best
  }

  private static func elements(_ text: [UInt8]) throws(MessageFailure) -> [JSONObject] {
    let value: JSONValue
    do throws(JSONFailure) { value = try JSONValue(parsing: text) } catch { throw .json(error) }
    guard case .object(let object) = value else {
      return try UAFMessageList.elements(text, JSONLimits.standard)
    }
    for carrier in ["uafResponse", "uafProtocolMessage"] {
      if case .string(let inner) = object[carrier] {
        return try UAFMessageList.elements(Array(inner.utf8), JSONLimits.standard)
      }
    }
    guard object.contains("header") else { throw .notAnArray }
    return [object]
  }
}

/// A public key as whoever looks at a message has it.
package struct InspectionKey: Sendable {
  package let bytes: [UInt8]
  package let format: UAFKeyFormat

  /// Takes the bytes; without a format, it is the one that the bytes look like.
  package init(_ bytes: [UInt8], format: UAFKeyFormat? = nil) {
    self.bytes = bytes
    self.format = format ?? Self.likelyFormat(bytes)
  }

  private static func likelyFormat(_ bytes: [UInt8]) -> UAFKeyFormat {
    switch (bytes.first, bytes.count) {
    case (0x04, 65): .x962RAW
    case (_, 257...264): .rsa2048RAW
    case (0x30, ...120): .x962DER
    default: .rsa2048DER
    }
  }
}
