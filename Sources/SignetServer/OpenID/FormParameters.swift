import SignetHTTPServer
import SignetJSON

/// The parameters of a request.
///
/// Each may appear once; an empty value counts as missing (RFC 6749 section 3.2).
package struct FormParameters: Sendable {
  static let mediaType = "application/x-www-form-urlencoded"
  static let maximumCount = 64

  private let values: [String: String]

  /// Parses a form.
  ///
  /// - Parameters:
  ///   - contentType: The `Content-Type` of the request.
  ///   - body: `application/x-www-form-urlencoded`.
  /// - Throws: ``OpenIDFailure`` if the body is not a form in UTF-8, has control characters or repeats a name.
  init(contentType: String?, body: [UInt8]) throws(OpenIDFailure) {
    guard contentType.map(Self.isForm) ?? false else {
      throw OpenIDFailure(.invalidRequest, "Send Content-Type: application/x-www-form-urlencoded.")
    }
    try self.init(body)
  }

  /// Parses the bytes of a form.
  ///
  /// - Throws: ``OpenIDFailure``.
  package init(_ body: [UInt8]) throws(OpenIDFailure) {
    guard let text = String(validating: body, as: UTF8.self) else { throw Self.malformed }
    let items: [HeaderFields.Field]
    do throws(RequestRefusal) { items = try QueryParameters(raw: text).items } catch { throw Self.malformed }
    guard items.count <= Self.maximumCount else { throw Self.malformed }
    var values: [String: String] = [:]
    for item in items {
      // Short ASCII names bound the time to compare them.
      guard Self.mayBeName(item.name) else { throw Self.malformed }
      guard values.updateValue(item.value, forKey: item.name) == nil else {
        throw OpenIDFailure(.invalidRequest, "Send \(item.name) once.")
      }
    }
    self.values = values.filter { !$0.value.isEmpty }
  }

  /// Reads the parameters from the claims of a signed request (CIBA section 7.1.1), where they are texts.
  ///
  /// Claims that are not parameters are ignored.
  ///
  /// - Throws: ``OpenIDFailure``.
  init(claims: JSONObject) throws(OpenIDFailure) {
    var values: [String: String] = [:]
    for name in BackchannelRequest.parameterNames {
      switch claims[name] {
      case nil: continue
      case .string(let text)?: values[name] = text
      // The expiry may also be a number.
      case .integer(let number)? where name == BackchannelRequest.expiryName: values[name] = String(number)
      default: throw OpenIDFailure(.invalidRequest, "Make \(name) in request a string.")
      }
    }
    self.values = values.filter { !$0.value.isEmpty }
  }

  /// The value of a parameter; `nil` if it is missing or empty.
  package subscript(name: String) -> String? { values[name] }

  /// Returns true if one of these parameters is present.
  func hasAny(of names: [String]) -> Bool { names.contains { values[$0] != nil } }

  private static let malformed = OpenIDFailure(
    .invalidRequest,
    "Send a form in UTF-8, percent-encoded, with at most \(maximumCount) parameters whose names are visible ASCII."
  )

  private static func mayBeName(_ name: String) -> Bool {
    // The characters that are allowed in an error answer (RFC 6749 section 5.2).
    (1...64).contains(name.utf8.count)
      && name.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
  }

  private static func isForm(_ contentType: String) -> Bool {
    var type = contentType.utf8.prefix { $0 != UInt8(ascii: ";") }[...]
    while type.last == 0x20 || type.last == 0x09 { type.removeLast() }
    guard type.count <= 128, type.allSatisfy({ $0 < 0x80 }) else { return false }
    return String(decoding: type, as: UTF8.self).lowercased() == "application/x-www-form-urlencoded"
  }
}
