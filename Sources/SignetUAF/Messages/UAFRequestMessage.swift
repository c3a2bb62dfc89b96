import SignetJSON

/// A request of a server, whichever it is.
package enum UAFRequestMessage: Hashable, Sendable {
  case registration(RegistrationRequest)
  case authentication(AuthenticationRequest)
  case deregistration(DeregistrationRequest)

  /// Reads the one request of the array that is of the highest version among `versions`.
  ///
  /// - Parameters:
  ///   - text: The JSON text, UTF-8.
  ///   - versions: What the caller supports.
  ///   - knownExtensions: The ids of extensions of the header that the caller will judge.
  /// - Throws: ``MessageFailure``; its `clientError` is what the client says.
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

  /// What it begins with.
  package var header: OperationHeader {
    switch self {
    case .registration(let request): request.header
    case .authentication(let request): request.header
    case .deregistration(let request): request.header
    }
  }
}
