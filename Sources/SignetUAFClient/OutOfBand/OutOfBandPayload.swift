import SignetCrypto
import SignetHTTPClient
import SignetJSON

/// An out-of-band message of a server to a device: a token, the URL that redeems it and data of its sender.
public struct OutOfBandPayload: Hashable, Sendable {
  /// The kind of operation that the token starts.
  public enum Operation: String, Hashable, Sendable {
    /// A registration.
    case registration
    /// An authentication.
    case authentication
    /// A deregistration.
    case deregistration
  }

  /// The single-use token of the operation.
  public let token: String
  /// The URL that redeems the token.
  public let redeemURL: String
  /// The kind of operation, from the last path component of ``redeemURL``.
  public let operation: Operation
  /// The data of the party that requested the operation; JSON text if it is not a string.
  public let data: String?
  /// Indicates whether the payload was encrypted for this device.
  public let wasEncrypted: Bool

  /// Parses and validates the object of a payload.
  package init(_ object: JSONObject, wasEncrypted: Bool) throws(UAFPayloadFailure) {
    do throws(JSONFailure) {
      (token, redeemURL) = (try object.string("token"), try object.string("redeem_url"))
    } catch { throw .malformed(error.description) }
    guard (1...256).contains(token.utf8.count), token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw .malformed("the token is malformed")
    }
    guard redeemURL.utf8.count <= 1_024, let parsedURL = HTTPSURL(redeemURL), !redeemURL.contains("?") else {
      throw .malformed("redeem_url is not an https URL")
    }
    let last = parsedURL.path.split(separator: "/").last ?? ""
    guard let operation = Operation(rawValue: String(last)) else {
      throw .malformed("redeem_url does not name an operation")
    }
    self.operation = operation
    switch object["data"] {
    case nil: data = nil
    case .string(let text): data = text
    case let value?: data = value.text
    }
    self.wasEncrypted = wasEncrypted
  }
}

/// A payload as delivered, before decryption.
package struct DeliveredPayload {
  package enum Content {
    case plain(JSONObject)
    case encrypted(String)
  }

  package let content: Content

  private static let limits = JSONLimits(maximumDepth: 16, maximumByteCount: 16 << 10)

  /// Parses the JSON of a push message, a code or a link.
  ///
  /// The members of a push message are strings, even if they contain an object.
  init(json text: [UInt8]) throws(UAFPayloadFailure) {
    do throws(JSONFailure) {
      try self.init(JSONObject(parsing: text, limits: Self.limits))
    } catch { throw .malformed(error.description) }
  }

  /// Parses an app link, base64url or JSON; the form is detected.
  ///
  /// - Throws: ``UAFPayloadFailure``.
  package init(anyForm text: String) throws(UAFPayloadFailure) {
    if text.utf8.first == UInt8(ascii: "{") {
      try self.init(json: Array(text.utf8))
    } else {
      try self.init(base64URL: try Self.dispatched(inLink: text) ?? text)
    }
  }

  /// Parses the base64url value of a link.
  init(base64URL text: String) throws(UAFPayloadFailure) {
    guard text.utf8.count <= Self.limits.maximumByteCount * 2, let bytes = Base64URL.decodePadded(text) else {
      throw .malformed("it is neither JSON nor base64url")
    }
    try self.init(json: bytes)
  }

  /// The only `dispatchTokenResponse` value of a link; `nil` if the text is not a link.
  static func dispatched(inLink text: String) throws(UAFPayloadFailure) -> String? {
    guard text.contains("://") else { return nil }
    let query = text.prefix { $0 != "#" }.drop { $0 != "?" }.dropFirst()
    let values = query.split(separator: "&").compactMap { part -> Substring? in
      part.hasPrefix("dispatchTokenResponse=") ? part.dropFirst("dispatchTokenResponse=".count) : nil
    }
    guard values.count == 1, let value = values.first else {
      throw .malformed("the link has no dispatchTokenResponse, or several")
    }
    return String(value).replacing("%3D", with: "=").replacing("%3d", with: "=")
  }

  /// Parses the answer of a server's enrolment call: the link in `enrollment`, otherwise the response of its dispatcher.
  ///
  /// - Throws: ``UAFPayloadFailure``.
  package init(enrolmentResponse text: [UInt8]) throws(UAFPayloadFailure) {
    let link: String?
    do throws(JSONFailure) {
      let object = try JSONObject(parsing: text, limits: JSONLimits(maximumByteCount: 1 << 20))
      let dispatched = try object.optionalObject("dispatcherInformation")?.optionalString("response")
      link = try object.optionalObject("enrollment")?.optionalString("appLinkUri") ?? dispatched
    } catch { throw .malformed(error.description) }
    guard let link else { throw .malformed("the answer to the enrolment has no link for an app") }
    try self.init(anyForm: link)
  }

  private init(_ object: JSONObject) throws(JSONFailure) {
    let data = try object.value("nma_data")
    let type = try object.optionalString("nma_data_content_type") ?? "application/json"
    guard try object.optionalString("nma_data_version") ?? "1" == "1" else {
      throw .wrongType(member: "nma_data_version", expected: .string)
    }
    switch (type.lowercased(), data) {
    case ("application/jose", .string(let text)): content = .encrypted(text)
    case ("application/json", .object(let plain)): content = .plain(plain)
    case ("application/json", .string(let text)):
      content = .plain(try JSONObject(parsing: Array(text.utf8), limits: Self.limits))
    case ("application/json", _): throw .wrongType(member: "nma_data", expected: .object)
    default: throw .wrongType(member: "nma_data_content_type", expected: .string)
    }
  }
}
