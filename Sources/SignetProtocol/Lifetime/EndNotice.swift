public import SignetCrypto
import SignetJOSE
import SignetJSON

/// A device's signed notice that a container on it has ended (`docs/protocol.md` section 3.6).
///
/// The device signs it before it deletes the keys. It is valid only for the end of this container, so the device may store
/// it and send it when the server is reachable.
public struct EndNotice: Hashable, Sendable {
  /// The `typ` of the JWS.
  public static let type = "signet-end"
  /// The longest reason, in Unicode scalars.
  public static let maximumReasonLength = 1000

  /// The event that ended the container.
  public enum Event: String, Hashable, Sendable {
    /// The user deleted the container.
    case deleted
    /// The user deleted everything on the device.
    case reset
    /// Too many wrong passwords were entered, and the device erased the protected keys.
    case wiped
  }

  /// The container that ended.
  public let container: ContainerID
  /// The server id.
  public let server: ServerURL
  /// The id of the installation, 16 bytes.
  public let device: [UInt8]
  /// The event that ended the container.
  public let event: Event
  /// The reason in the user's or the app's words; may be empty.
  public let reason: String
  /// The time of the event by the device's clock, in seconds since 1970.
  public let time: Int64

  /// Creates a notice that is still to be signed.
  ///
  /// - Throws: ``WireFailure/invalid(member:reason:)`` for a reason that is too long or not plain text on one line.
  public init(
    container: ContainerID, server: ServerURL, device: [UInt8], event: Event, reason: String, time: Int64
  ) throws(WireFailure) {
    guard reason.unicodeScalars.count <= Self.maximumReasonLength,
      reason.unicodeScalars.allSatisfy({ DisplayText.isPlain($0) && $0 != "\n" })
    else {
      throw .invalid(
        member: "reason",
        reason: "must have at most \(Self.maximumReasonLength) characters, none of them a control character")
    }
    self.container = container
    self.server = server
    self.device = device
    self.event = event
    self.reason = reason
    self.time = time
  }

  /// Parses the JSON payload of a JWS.
  ///
  /// - Throws: ``WireFailure`` if the payload is not of the protocol's form.
  public init(parsing bytes: [UInt8]) throws(WireFailure) {
    let object = try Wire.object(bytes)
    try Wire.checkVersion(object)
    guard let event = Event(rawValue: try object.wireName("event")) else {
      throw .invalid(member: "event", reason: "is not known to this server")
    }
    try self.init(
      container: ContainerID(object.wireString("container")),
      server: ServerURL(serverID: object.wireString("server")), device: object.wireBytes("device", count: 16),
      event: event, reason: object.wireString("reason"), time: object.wireInteger("time"))
  }

  /// The JSON payload to sign.
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

  /// Signs the notice with ES256; `kid` is the container id.
  ///
  /// - Parameter sign: Signs a message with ECDSA and SHA-256.
  /// - Returns: A compact JWS.
  /// - Throws: The error that `sign` throws.
  public func signed<Failure: Error>(
    by sign: ([UInt8]) async throws(Failure) -> ECDSASignature
  ) async throws(Failure) -> String {
    try await UnsignedJWS.signed(bytes, keyID: container.text, type: Self.type, by: sign)
  }
}

/// A notice as it arrived: read, but not verified.
public struct SignedEndNotice: Sendable {
  private let message: ContainerMessage

  /// The container that the sender claims has ended; not verified.
  public var container: ContainerID { message.container }

  /// Parses the body of a request, `{"notice":"…"}`.
  ///
  /// - Throws: ``WireFailure`` if the body or the header of its JWS is malformed.
  public init(parsing body: [UInt8]) throws(WireFailure) {
    message = try ContainerMessage(Wire.object(body).wireString("notice"), type: EndNotice.type)
  }

  /// Returns the verified notice; `nil` if the key did not sign it or its payload is malformed.
  public func notice(verifiedWith key: P256.Signing.PublicKey) -> EndNotice? {
    guard let payload = message.payload(verifiedWith: key) else { return nil }
    do {
      let notice = try EndNotice(parsing: payload)
      return notice.container == container ? notice : nil
    } catch { return nil }
  }
}
