import SignetJSON

/// A server's request of any operation.
package enum UAFRequestMessage: Hashable, Sendable {
  case registration(RegistrationRequest)
  case authentication(AuthenticationRequest)
  case deregistration(DeregistrationRequest)

  /// Parses the request of the array with the highest version among `versions`.
  ///
  /// - Parameters:
  ///   - text: The JSON text, UTF-8.
  ///   - versions: The supported versions.
  ///   - knownExtensions: The ids of header extensions that the caller evaluates.
  /// - Throws: ``MessageFailure``; its `clientError` is the client's answer to the app.
  package init(
    parsing text: [UInt8], versions: [UAFVersion] = [.v1_1], knownExtensions: Set<String> = []
  ) throws(MessageFailure) {
    let value: JSONValue
    do throws(JSONFailure) {
      value = try JSONValue(parsing: text, limits: AuthenticationRequest.limits)
    } catch {
      throw .json(error)
    }
    let object = try UAFMessageList.choose(UAFMessageList.elements(value), among: versions)
    switch try OperationHeader(DictionaryReader(object).dictionary("header")).operation {
    case .registration: self = .registration(try RegistrationRequest(object))
    case .authentication: self = .authentication(try AuthenticationRequest(object))
    case .deregistration: self = .deregistration(try DeregistrationRequest(object))
    }
    if let unknown = header.extensions.firstUnknown(except: knownExtensions) {
      throw .unknownExtension(unknown.id)
    }
  }

  /// The header of the request.
  package var header: OperationHeader {
    switch self {
    case .registration(let request): request.header
    case .authentication(let request): request.header
    case .deregistration(let request): request.header
    }
  }
}
