public import SignetCrypto
import SignetJSON
public import SignetPolicy

/// How a server stands to a container: what it asks of its device, and what it lets it do (`docs/protocol.md` section 14.1).
///
/// The wire calls it a condition: `signet-condition`.
public struct DeviceStatus: Hashable, Sendable {
  /// The `typ` of the JWS.
  static let type = "signet-condition"
  /// The length of a challenge, in bytes.
  public static let challengeByteCount = 16

  /// What a server lets a container do.
  public enum Standing: String, Hashable, Sendable, CaseIterable {
    /// Everything.
    case open
    /// Everything but one-time codes, which prove less than a signature.
    case stepUp
    /// Nothing but denying, and ending.
    case locked
  }

  /// Grows with each change of what the server says of the container.
  public var revision: Int64
  /// What the next report has to answer, 16 bytes.
  public var challenge: [UInt8]
  /// The policies of the container.
  public var policies: AccountPolicySet
  /// What the server lets the container do.
  public var standing: Standing
  /// Why, where that is not everything; may be empty.
  public var reason: String
  /// The commands that the device has not acknowledged, oldest first.
  public var orders: [DeviceCommand]

  /// Puts it together.
  public init(
    revision: Int64, challenge: [UInt8], policies: AccountPolicySet, standing: Standing, reason: String,
    orders: [DeviceCommand]
  ) {
    (self.revision, self.challenge, self.policies) = (revision, challenge, policies)
    (self.standing, self.reason, self.orders) = (standing, reason, orders)
  }

  /// Signs it: ES256 by the server's key.
  ///
  /// - Parameters:
  ///   - address: What it answers.
  ///   - signer: The server's key.
  /// - Returns: A compact JWS.
  /// - Throws: ``WireFailure/notAuthentic`` when the key can't be used.
  public func signed(
    for address: ListAddress, by signer: P256.Signing.PrivateKey
  ) throws(WireFailure) -> String {
    var object: JSONObject = [
      "version": .integer(Wire.version), "server": .string(address.server.fullForm),
      "container": .string(address.container.text), "request": .string(Base64URL.encode(address.request)),
      "revision": .integer(revision), "challenge": .string(Base64URL.encode(challenge)),
      "policies": .object(policies.json), "standing": .string(standing.rawValue),
    ]
    if !reason.isEmpty { object["reason"] = .string(reason) }
    if !orders.isEmpty { object["orders"] = .array(orders.map { .object($0.json) }) }
    return try ES256Message.signed(object.bytes, by: signer, type: Self.type)
  }
}

/// A status as it arrived; who sent it is still to be checked.
public struct SignedDeviceStatus: Sendable {
  private let message: ES256Message
  /// The thumbprint of the key that its sender names.
  public let signer: String

  /// Reads an answer.
  ///
  /// - Throws: ``WireFailure/notAuthentic``.
  public init(_ jws: String) throws(WireFailure) {
    guard let message = ES256Message(jws, type: DeviceStatus.type), let signer = message.keyID else {
      throw .notAuthentic
    }
    (self.message, self.signer) = (message, signer)
  }

  /// Verifies the status.
  ///
  /// - Parameters:
  ///   - key: The server's key.
  ///   - address: What it has to answer.
  /// - Returns: What the server said.
  /// - Throws: ``WireFailure/notAuthentic`` where another key signed, or it answers something else.
  public func condition(
    signedBy key: P256.Signing.PublicKey, for address: ListAddress
  ) throws(WireFailure) -> DeviceStatus {
    guard let payload = message.payload(signedBy: key) else { throw .notAuthentic }
    let object = try Wire.object(payload)
    try Wire.checkVersion(object)
    guard try ServerURL(serverID: object.wireString("server")) == address.server,
      try ContainerID(object.wireString("container")) == address.container,
      constantTimeEqual(try object.wireBytes("request", count: 16), address.request)
    else { throw .notAuthentic }
    guard let standing = DeviceStatus.Standing(rawValue: try object.wireName("standing")) else {
      throw .invalid(member: "standing", reason: "is none that this version knows")
    }
    var orders: [DeviceCommand] = []
    for value in try Wire.reading(object.optionalArray("orders")) ?? [] {
      guard case .object(let member) = value else {
        throw .invalid(member: "orders", reason: "holds something that is no object")
      }
      orders.append(try DeviceCommand(member))
    }
    let policies: AccountPolicySet
    do { policies = try AccountPolicySet(try object.wireObject("policies")) } catch let failure as WireFailure
    {
      throw failure
    } catch {
      throw .invalid(member: "policies", reason: "are none of this version: \(error)")
    }
    return DeviceStatus(
      revision: try object.wireInteger("revision"),
      challenge: try object.wireBytes("challenge", count: DeviceStatus.challengeByteCount),
      policies: policies, standing: standing,
      // Shown as it is; a lock is not refused for what it says.
      reason: DeviceCommand.plain(try Wire.reading(object.optionalString("reason")) ?? ""), orders: orders)
  }
}
