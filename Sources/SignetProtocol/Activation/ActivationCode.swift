import SignetCrypto
import SignetJSON

/// The content of an activation QR code: server, user, invite and pins (`docs/protocol.md` section 2).
public struct ActivationCode: Hashable, Sendable {
  /// The largest code, in bytes.
  public static let maximumByteCount = 2048

  /// The server's address.
  public var server: ServerURL
  /// The user who will own the container.
  public var user: UserID
  /// The one-time invite.
  public var invite: InviteCode
  /// The SHA-256 hashes of SubjectPublicKeyInfo that the server's certificate may have, 32 bytes each; empty for no pinning.
  public var pins: [[UInt8]]

  /// Creates a code, for example from typed input.
  public init(server: ServerURL, user: UserID, invite: InviteCode, pins: [[UInt8]] = []) {
    self.server = server
    self.user = user
    self.invite = invite
    self.pins = pins
  }

  /// Parses the text of a QR code or of any other channel.
  ///
  /// - Throws: ``ActivationCodeFailure`` if the text is too large, of another version or malformed.
  public init(parsing text: String) throws(ActivationCodeFailure) {
    let bytes = Array(text.utf8)
    guard bytes.count <= Self.maximumByteCount else { throw .tooLarge(bytes.count) }
    do throws(WireFailure) {
      let object = try Wire.object(bytes)
      try Wire.checkVersion(object, member: "ver")
      let fields = try Wire.reading(
        (
          url: object.string("url"), user: object.string("uid"), invite: object.string("inv"),
          pins: object.array("pin")
        ))
      server = try ServerURL(wire: fields.url, member: "url")
      user = try UserID(fields.user)
      invite = try Self.invite(fields.invite)
      guard fields.pins.count <= 4 else { throw .invalid(member: "pin", reason: "must have 0 to 4 pins") }
      var pins: [[UInt8]] = []
      for pin in fields.pins { pins.append(try Self.pin(pin)) }
      self.pins = pins
    } catch {
      if case .unsupportedVersion(let version) = error { throw .version(version) }
      throw .malformed(error)
    }
  }

  private static func invite(_ text: String) throws(WireFailure) -> InviteCode {
    do { return try InviteCode(text) } catch {
      throw .invalid(member: "inv", reason: "is not an invite code: \(error)")
    }
  }

  private static func pin(_ value: JSONValue) throws(WireFailure) -> [UInt8] {
    guard case .string(let text) = value, let bytes = Base64URL.bytes(text), bytes.count == 32 else {
      throw .invalid(member: "pin", reason: "must be the base64url of 32 bytes")
    }
    return bytes
  }

  /// The code as JSON text.
  ///
  /// The text contains the invite: treat it as a secret.
  public var text: String {
    var object = JSONObject()
    object["ver"] = .integer(Wire.version)
    object["url"] = .string(server.shortForm)
    object["uid"] = .string(user.text)
    object["inv"] = .string(invite.typedForm)
    object["pin"] = .array(pins.map { .string(Base64URL.encode($0)) })
    return JSONValue.object(object).text
  }
}

/// The reasons why a text is no activation code.
@nonexhaustive public enum ActivationCodeFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The text has more than 2,048 bytes.
  case tooLarge(Int)
  /// The code has another version of the protocol.
  case version(Int64)
  /// The text is no activation code, or it was truncated or damaged.
  case malformed(WireFailure)

  /// The reason and what to do about it.
  public var description: String {
    switch self {
    case .tooLarge(let count):
      "an activation code has at most \(ActivationCode.maximumByteCount) bytes, this one has \(count); ask for a new one"
    case .version(let version):
      "the activation code is of version \(version), this build reads version \(Wire.version): update Signet"
    case .malformed(let failure):
      "this is not an activation code (\(failure)); scan it again or ask for a new one"
    }
  }
}
