import SignetCrypto
public import SignetJSON

/// The data with which a server reaches a device.
public struct PushAuthDevice: Sendable, Hashable {
  /// The service of a device that polls its server instead of receiving pushes; a Signet extension.
  public static let live = "live"
  /// The longest token, in bytes.
  public static let maximumTokenByteCount = 4096

  /// The token of the push service; Apple's in upper-case hexadecimal.
  public let token: String
  /// The name for users.
  public let name: String
  /// The platform, `ios` or `android`.
  public let platform: String
  /// The push service, `apns` or `gcm`.
  public let service: String

  /// Validates a device.
  ///
  /// - Parameters:
  ///   - token: The token of the push service.
  ///   - name: The name for users.
  ///   - platform: `ios` or `android`.
  ///   - service: `apns` or `gcm`.
  /// - Throws: ``PushAuthFailure`` if one of them is empty, too long or malformed.
  public init(
    token: String, name: String, platform: String = "ios", service: String = "apns"
  ) throws(PushAuthFailure) {
    guard !token.isEmpty else { throw .missing("device token") }
    guard token.utf8.count <= Self.maximumTokenByteCount, token.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
      throw .invalid("device token", reason: "is too long, or has characters that are not allowed")
    }
    guard name.utf8.count <= 256, name.isPlainText else {
      throw .invalid("device name", reason: "is too long, or has control characters")
    }
    for (value, label) in [(platform, "device type"), (service, "communication type")] {
      guard (1...32).contains(value.utf8.count),
        value.utf8.allSatisfy({ 0x61...0x7A ~= $0 || 0x30...0x39 ~= $0 })
      else { throw .invalid(label, reason: "is not known") }
    }
    self.token = token
    self.name = name
    self.platform = platform
    self.service = service
  }

  /// Encodes a token of Apple's service as apps send it.
  ///
  /// - Parameter bytes: The token from the operating system.
  /// - Returns: Upper-case hexadecimal; empty for no bytes.
  public static func token(of bytes: [UInt8]) -> String { Hex.encode(bytes).uppercased() }
}

extension PushAuthDevice {
  /// The JSON to store: `token`, `name`, `platform` and `service`.
  public var json: JSONObject {
    [
      "token": .string(token), "name": .string(name), "platform": .string(platform),
      "service": .string(service),
    ]
  }

  /// Restores a stored device.
  ///
  /// - Parameter json: A value of ``json``.
  /// - Throws: ``PushAuthFailure`` if the value is damaged.
  public init(stored json: JSONObject) throws(PushAuthFailure) {
    let parts: [String]
    do throws(JSONFailure) {
      parts = try ["token", "name", "platform", "service"].map { name throws(JSONFailure) in
        try json.string(name)
      }
    } catch { throw .malformed(reason: "is damaged where it was stored") }
    try self.init(token: parts[0], name: parts[1], platform: parts[2], service: parts[3])
  }
}
