public import SignetCrypto
import SignetJOSE
import SignetJSON

/// A device's word that it has done what an operator commanded, signed by the container's session key (`docs/protocol.md` section
/// 14.3).
///
/// It is signed before the command is done, since a wipe leaves no key, and kept with what the command changes, in one step. It is
/// good for this command and for nothing else, so it may come late, and more than once.
public struct CommandAcknowledgement: Hashable, Sendable {
  /// The `typ` of the JWS.
  static let type = "signet-order-receipt"

  /// The container.
  public let container: ContainerID
  /// Where.
  public let server: ServerURL
  /// The installation, 16 bytes.
  public let device: [UInt8]
  /// The command.
  public let order: DeviceCommandID
  /// What was done.
  public let action: DeviceCommand.Action
  /// When, by the device's clock, in seconds since 1970.
  public let time: Int64

  /// Puts an acknowledgement together.
  public init(
    container: ContainerID, server: ServerURL, device: [UInt8], order: DeviceCommandID,
    action: DeviceCommand.Action, time: Int64
  ) {
    (self.container, self.server, self.device) = (container, server, device)
    (self.order, self.action, self.time) = (order, action, time)
  }

  /// Reads a payload.
  ///
  /// - Throws: ``WireFailure``.
  init(parsing bytes: [UInt8]) throws(WireFailure) {
    let object = try Wire.object(bytes)
    try Wire.checkVersion(object)
    guard let action = DeviceCommand.Action(rawValue: try object.wireName("action")) else {
      throw .invalid(member: "action", reason: "is none that this server knows")
    }
    self.init(
      container: try ContainerID(object.wireString("container")),
      server: try ServerURL(serverID: object.wireString("server")),
      device: try object.wireBytes("device", count: 16),
      order: try DeviceCommandID(object.wireString("order")), action: action,
      time: try object.wireInteger("time"))
  }

  /// The payload.
  var bytes: [UInt8] {
    let object: JSONObject = [
      "version": .integer(Wire.version), "container": .string(container.text),
      "server": .string(server.fullForm), "device": .string(Base64URL.encode(device)),
      "order": .string(order.text), "action": .string(action.rawValue), "time": .integer(time),
    ]
    return object.bytes
  }

  /// Signs the acknowledgement: ES256, `kid` is the container id.
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

/// An acknowledgement as it arrived: read, but not verified.
public struct SignedCommandAcknowledgement: Sendable {
  private let message: ContainerMessage
  /// The acknowledgement as it arrived, a compact JWS.
  public let jws: String

  /// Which container the sender says it is.
  public var container: ContainerID { message.container }

  /// Reads the body of a request, `{"receipt":"…"}`.
  ///
  /// - Throws: ``WireFailure``.
  public init(parsing body: [UInt8]) throws(WireFailure) {
    jws = try Wire.object(body).wireString("receipt")
    message = try ContainerMessage(jws, type: CommandAcknowledgement.type)
  }

  /// What was signed; `nil` unless the key signed it and it is of the protocol's form.
  public func receipt(verifiedWith key: P256.Signing.PublicKey) -> CommandAcknowledgement? {
    guard let payload = message.payload(verifiedWith: key) else { return nil }
    do {
      let receipt = try CommandAcknowledgement(parsing: payload)
      return receipt.container == container ? receipt : nil
    } catch { return nil }
  }
}
