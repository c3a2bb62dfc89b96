import SignetCrypto
import SignetJSON

/// The results of inspecting a response or an assertion without knowledge of the request.
///
/// It is for people who look at a message, and for comparison with other implementations; it does not replace verification
/// by a server.
package struct Inspection: Sendable {
  package enum Kind: String, Sendable {
    case registrationResponse
    case authenticationResponse
    case registrationAssertion
    case authenticationAssertion
  }

  /// The reasons why a message cannot be inspected.
  package enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text is no response.
    case message(MessageFailure)
    /// The assertion scheme is unknown.
    case scheme(String)
    /// An assertion is malformed.
    case assertion(AssertionFailure)

    package var description: String {
      switch self {
      case .message(let failure): failure.description
      case .scheme(let scheme): "the assertion scheme \"\(scheme.prefix(64))\" is not known"
      case .assertion(let failure): failure.description
      }
    }
  }

  package let kind: Kind
  package let header: OperationHeader?
  package let finalChallenge: FinalChallenge?
  /// The results for each assertion, at least one.
  package let assertions: [AssertionInspection]

  /// Inspects a response.
  ///
  /// - Parameters:
  ///   - response: The JSON text: an array, one message of it, or the object that carries it over HTTP.
  ///   - key: The key of an authentication; `nil` if it is unknown.
  ///   - isStrict: True to require minimal integers in DER.
  /// - Throws: ``Failure`` if the response cannot be parsed.
  package init(
    response: String, key: InspectionKey? = nil, isStrict: Bool = false
  ) throws(Failure) {
    let (object, operation) = try Self.message(response)
    let parts: (OperationHeader, FinalChallenge, [ResponseAssertion])
    do throws(MessageFailure) {
      switch operation {
      case .registration:
        let message = try RegistrationResponse(object)
        parts = (message.header, message.finalChallenge, message.assertions)
      case .authentication:
        let message = try AuthenticationResponse(object)
        parts = (message.header, message.finalChallenge, message.assertions)
      case .deregistration: throw .operation(operation.rawValue)
      }
    } catch {
      throw .message(error)
    }
    (header, finalChallenge) = (parts.0, parts.1)
    kind = operation == .registration ? .registrationResponse : .authenticationResponse
    var assertions: [AssertionInspection] = []
    for item in parts.2 {
      guard item.scheme == ResponseAssertion.tlvScheme else { throw .scheme(item.scheme) }
      let assertion = try AssertionInspection(item.bytes, parts.1.hash, key, isStrict: isStrict)
      guard assertion.isRegistration == (operation == .registration) else {
        throw .assertion(.topTag(assertion.topTag))
      }
      assertions.append(assertion)
    }
    self.assertions = assertions
  }

  /// Inspects a single assertion.
  ///
  /// - Parameters:
  ///   - assertion: The bytes of the assertion.
  ///   - text: The text of `fcParams`; `nil` if it is unknown.
  ///   - key: The key of an authentication; `nil` if it is unknown.
  ///   - isStrict: True to require minimal integers in DER.
  /// - Throws: ``Failure`` if the assertion cannot be parsed.
  package init(
    assertion: [UInt8], finalChallenge text: String? = nil, key: InspectionKey? = nil, isStrict: Bool = false
  ) throws(Failure) {
    header = nil
    finalChallenge = nil
    let hash = text.map { unsafe HashFunction.sha256.digest(of: $0.utf8Span.span.bytes) }
    let inspection = try AssertionInspection(assertion, hash, key, isStrict: isStrict)
    kind = inspection.isRegistration ? .registrationAssertion : .authenticationAssertion
    assertions = [inspection]
  }

  /// The reasons to reject the message; empty if there are none.
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
  /// The members that carry messages, between an app and its client and over HTTP.
  private static let carriers = ["uafResponse", "uafProtocolMessage", "uafRequest"]

  /// Returns the message with the highest supported version, and its operation.
  private static func message(_ text: String) throws(Failure) -> (JSONObject, UAFOperation) {
    do throws(MessageFailure) {
      let object = try UAFMessageList.choose(try elements(try value(text)), among: versions)
      guard object.contains("fcParams") || !object.contains("challenge") else { throw .request }
      return (object, try OperationHeader(DictionaryReader(object).dictionary("header")).operation)
    } catch {
      throw .message(error)
    }
  }

  /// Returns the messages of a list, a single message, or those inside a carrier, as text or as JSON.
  private static func elements(_ outer: JSONValue) throws(MessageFailure) -> [JSONObject] {
    var current = outer
    // Carriers can be nested, for example if an app forwards its client's answer.
    for _ in 0...carriers.count {
      guard case .object(let object) = current else { return try UAFMessageList.elements(current) }
      guard let inner = carriers.lazy.compactMap({ object[$0] }).first else {
        guard object.contains("header") else { break }
        return [object]
      }
      if case .string(let text) = inner { current = try value(text) } else { current = inner }
    }
    throw .notAMessage
  }

  private static func value(_ text: String) throws(MessageFailure) -> JSONValue {
    do throws(JSONFailure) { return try JSONValue(parsing: Array(text.utf8)) } catch { throw .json(error) }
  }
}
