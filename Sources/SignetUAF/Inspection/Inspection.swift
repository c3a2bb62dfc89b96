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
  /// What carries messages, between an app and its client and over HTTP.
  private static let carriers = ["uafResponse", "uafProtocolMessage", "uafRequest"]

  /// The one message of a supported version, and what it is for.
  private static func message(_ text: String) throws(Failure) -> (JSONObject, UAFOperation) {
    do throws(MessageFailure) {
      let object = try UAFMessageList.choose(try elements(try value(text)), among: versions)
      guard object.contains("fcParams") || !object.contains("challenge") else { throw .request }
      return (object, try OperationHeader(DictionaryReader(object).dictionary("header")).operation)
    } catch {
      throw .message(error)
    }
  }

  /// The messages of a list, one message alone, or those of what carries either as text or in place.
  private static func elements(_ outer: JSONValue) throws(MessageFailure) -> [JSONObject] {
    var found = outer
    // One carrier may carry another, as when an app passes on what its client said.
    for _ in 0...carriers.count {
      guard case .object(let object) = found else { return try UAFMessageList.elements(found) }
      guard let inner = carriers.lazy.compactMap({ object[$0] }).first else {
        guard object.contains("header") else { break }
        return [object]
      }
      if case .string(let text) = inner { found = try value(text) } else { found = inner }
    }
    throw .notAMessage
  }

  private static func value(_ text: String) throws(MessageFailure) -> JSONValue {
    do throws(JSONFailure) { return try JSONValue(parsing: Array(text.utf8)) } catch { throw .json(error) }
  }
}
