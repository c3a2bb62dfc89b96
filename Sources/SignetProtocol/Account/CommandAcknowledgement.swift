public import SignetCrypto
import SignetJOSE
import SignetJSON

/// A device's signed acknowledgement that it has carried out an operator's command (`docs/protocol.md` section 14.3).
///
/// The container's session key signs it. The device signs before it carries out the command, because a wipe deletes the key.
/// It stores the acknowledgement and the change that the command makes in one step. An acknowledgement is valid for one
/// command only, so it may arrive late and more than once.
public struct CommandAcknowledgement: Hashable, Sendable {
  /// The `typ` of the JWS.
  static let type = "signet-order-receipt"

  /// The container.
  public let container: ContainerID
  /// The server id.
  public let server: ServerURL
  /// The id of the installation, 16 bytes.
  public let device: [UInt8]
  /// The id of the command.
  public let order: DeviceCommandID
  /// The action that the device carried out.
  public let action: DeviceCommand.Action
  /// The time of signing by the device's clock, in seconds since 1970.
  public let time: Int64

  /// Creates an acknowledgement that is still to be signed.
  public init(
    container: ContainerID, server: ServerURL, device: [UInt8], order: DeviceCommandID,
    action: DeviceCommand.Action, time: Int64
  ) {
    self.container = container
    self.server = server
    self.device = device
    self.order = order
    self.action = action
    self.time = time
  }

  /// Parses the JSON payload of a JWS.
  ///
  /// - Throws: ``WireFailure`` if the payload is not of the protocol's form.
  init(parsing bytes: [UInt8]) throws(WireFailure) {
    let object = try Wire.object(bytes)
    try Wire.checkVersion(object)
    guard let action = DeviceCommand.Action(rawValue: try object.wireName("action")) else {
      throw .invalid(member: "action", reason: "is not known to this server")
    }
    self.init(
      container: try ContainerID(object.wireString("container")),
      server: try ServerURL(serverID: object.wireString("server")),
      device: try object.wireBytes("device", count: 16),
      order: try DeviceCommandID(object.wireString("order")), action: action,
      time: try object.wireInteger("time"))
  }

  /// The JSON payload to sign.
  var bytes: [UInt8] {
    let object: JSONObject = [
      "version": .integer(Wire.version), "container": .string(container.text),
      "server": .string(server.fullForm), "device": .string(Base64URL.encode(device)),
      "order": .string(order.text), "action": .string(action.rawValue), "time": .integer(time),
    ]
    return object.bytes
  }

  /// Signs the acknowledgement with ES256; `kid` is the container id.
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

/// An acknowledgement as it arrived: read, but not verified.
public struct SignedCommandAcknowledgement: Sendable {
  private let message: ContainerMessage
  /// The acknowledgement as it arrived, a compact JWS.
  public let jws: String

  /// The container that the sender claims to be; not verified.
  public var container: ContainerID { message.container }

  /// Parses the body of a request, `{"receipt":"…"}`.
  ///
  /// - Throws: ``WireFailure`` if the body or the header of its JWS is malformed.
  public init(parsing body: [UInt8]) throws(WireFailure) {
    jws = try Wire.object(body).wireString("receipt")
    message = try ContainerMessage(jws, type: CommandAcknowledgement.type)
  }

  /// Returns the verified acknowledgement; `nil` if the key did not sign it or its payload is malformed.
  public func receipt(verifiedWith key: P256.Signing.PublicKey) -> CommandAcknowledgement? {
    guard let payload = message.payload(verifiedWith: key) else { return nil }
    do {
      let receipt = try CommandAcknowledgement(parsing: payload)
      return receipt.container == container ? receipt : nil
    } catch { return nil }
  }
}
