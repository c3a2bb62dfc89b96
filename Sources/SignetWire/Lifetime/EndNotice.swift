public import SignetCrypto
import SignetJOSE
import SignetJSON

/// What a device says of a container that it has ended (`docs/protocol.md` section 3.6).
///
/// It is signed before the keys go, and it is good for ending this container and for nothing else: so it may be kept, and sent
/// whenever the server can be reached.
public struct EndNotice: Hashable, Sendable {
  /// The `typ` of the JWS.
  public static let type = "signet-end"
  /// The most characters of a reason.
  public static let maximumReasonLength = 1000

  /// How a container ended.
  public enum Event: String, Hashable, Sendable {
    /// The user deleted it.
    case deleted
    /// The user deleted everything on the device.
    case reset
    /// Too many wrong passwords: the device erased what they protected.
    case wiped
  }

  /// The container.
  public let container: ContainerID
  /// Where.
  public let server: ServerURL
  /// The installation, 16 bytes.
  public let device: [UInt8]
  /// How it ended.
  public let event: Event
  /// Why, in the user's or the app's words; may be empty.
  public let reason: String
  /// When, by the device's clock, in seconds since 1970.
  public let time: Int64

  /// Puts a notice together.
  ///
  /// - Throws: ``WireFailure/invalid(member:reason:)`` for a reason that is too long or does not show what it is.
  public init(
    container: ContainerID, server: ServerURL, device: [UInt8], event: Event, reason: String, time: Int64
  ) throws(WireFailure) {
    guard reason.unicodeScalars.count <= Self.maximumReasonLength,
      reason.unicodeScalars.allSatisfy({ DisplayText.isPlain($0) && $0 != "\n" })
    else {
      throw .invalid(
        member: "reason",
        reason: "has at most \(Self.maximumReasonLength) characters, none of them a control character")
    }
    (self.container, self.server, self.device) = (container, server, device)
    (self.event, self.reason, self.time) = (event, reason, time)
  }

  /// Reads a payload.
  ///
  /// - Throws: ``WireFailure``.
  public init(parsing bytes: [UInt8]) throws(WireFailure) {
    let object = try Wire.object(bytes)
    try Wire.checkVersion(object)
    guard let event = Event(rawValue: try object.wireName("event")) else {
      throw .invalid(member: "event", reason: "is none that this server knows")
    }
    try self.init(
      container: ContainerID(object.wireString("container")),
      server: ServerURL(serverID: object.wireString("server")), device: object.wireBytes("device", count: 16),
      event: event, reason: object.wireString("reason"), time: object.wireInteger("time"))
  }

  /// The payload.
  public var bytes: [UInt8] {
    var object = JSONObject()
    object["version"] = .integer(Wire.version)
    object["container"] = .string(container.text)
    object["server"] = .string(server.fullForm)
    object["device"] = .string(Base64URL.encode(device))
    object["event"] = .string(event.rawValue)
    object["reason"] = .string(reason)
    object["time"] = .integer(time)
    return JSONValue.object(object).bytes
  }

  /// Signs the notice: ES256, `kid` is the container id.
  ///
  /// - Parameter sign: Signs a message with SHA-256.
  /// - Returns: A compact JWS.
  /// - Throws: What `sign` throws.
  public func signed<Failure: Error>(
    by sign: ([UInt8]) async throws(Failure) -> ECDSASignature
  ) async throws(Failure) -> String {
    try await UnsignedJWS.signed(bytes, keyID: container.text, type: Self.type, by: sign)
  }
}

/// A notice as it arrived: read, but not verified.
public struct SignedEndNotice: Sendable {
  private let message: ContainerMessage

  /// Which container the sender says has ended.
  public var container: ContainerID { message.container }

  /// Reads the body of a request, `{"notice":"…"}`.
  ///
  /// - Throws: ``WireFailure``.
  public init(parsing body: [UInt8]) throws(WireFailure) {
    message = try ContainerMessage(Wire.object(body).wireString("notice"), type: EndNotice.type)
  }

  /// What was signed; `nil` unless the key signed it and it is of the protocol's form.
  public func notice(verifiedWith key: P256.Signing.PublicKey) -> EndNotice? {
    guard let payload = message.payload(verifiedWith: key) else { return nil }
    do {
      let notice = try EndNotice(parsing: payload)
      return notice.container == container ? notice : nil
    } catch { return nil }
  }
}
