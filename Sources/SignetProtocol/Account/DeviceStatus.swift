public import SignetCrypto
import SignetJSON
public import SignetPolicy

/// The state of a container as its server sees it, with the policies for its device (`docs/protocol.md` section 14.1).
///
/// On the wire it is a condition: `signet-condition`.
public struct DeviceStatus: Hashable, Sendable {
  /// The `typ` of the JWS.
  static let type = "signet-condition"
  /// The length of a challenge, in bytes.
  public static let challengeByteCount = 16

  /// The operations that a server accepts from a container.
  public enum Compliance: String, Hashable, Sendable, CaseIterable {
    /// All operations.
    case open
    /// All operations except one-time codes, which prove less than a signature.
    case stepUp
    /// Only denials and the end of the container.
    case locked
  }

  /// A number that grows with each change of the status other than of `challenge`.
  public var revision: Int64
  /// The challenge for the next report, 16 bytes.
  public var challenge: [UInt8]
  /// The account policies of the container.
  public var policies: AccountPolicySet
  /// The operations that the server accepts.
  public var compliance: Compliance
  /// The reason for a restriction; may be empty.
  public var reason: String
  /// The commands that the device has not acknowledged, oldest first.
  public var orders: [DeviceCommand]

  /// Creates a status.
  public init(
    revision: Int64, challenge: [UInt8], policies: AccountPolicySet, compliance: Compliance, reason: String,
    orders: [DeviceCommand]
  ) {
    self.revision = revision
    self.challenge = challenge
    self.policies = policies
    self.compliance = compliance
    self.reason = reason
    self.orders = orders
  }

  /// Signs the status with ES256 and the server's key.
  ///
  /// - Parameters:
  ///   - address: The request that the status answers.
  ///   - signer: The server's key.
  /// - Returns: A compact JWS.
  /// - Throws: ``WireFailure/notAuthentic`` if the key cannot be used.
  public func signed(
    for address: ListAddress, by signer: P256.Signing.PrivateKey
  ) throws(WireFailure) -> String {
    var object: JSONObject = [
      "version": .integer(Wire.version), "server": .string(address.server.fullForm),
      "container": .string(address.container.text), "request": .string(Base64URL.encode(address.request)),
      "revision": .integer(revision), "challenge": .string(Base64URL.encode(challenge)),
      "policies": .object(policies.json), "standing": .string(compliance.rawValue),
    ]
    if !reason.isEmpty { object["reason"] = .string(reason) }
    if !orders.isEmpty { object["orders"] = .array(orders.map { .object($0.json) }) }
    return try ES256Message.signed(object.bytes, by: signer, type: Self.type)
  }
}

/// A status as it arrived: read, but not verified.
public struct SignedDeviceStatus: Sendable {
  private let message: ES256Message
  /// The thumbprint of the signing key that the sender names in `kid`; not verified.
  public let signer: String

  /// Parses the answer of a server.
  ///
  /// - Throws: ``WireFailure/notAuthentic`` for a malformed JWS, another `typ` or a missing `kid`.
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
  ///   - address: The request that the status has to answer.
  /// - Returns: The verified status.
  /// - Throws: ``WireFailure/notAuthentic`` if another key signed or the status answers another request;
  ///   ``WireFailure/invalid(member:reason:)`` for a malformed member.
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
    guard let compliance = DeviceStatus.Compliance(rawValue: try object.wireName("standing")) else {
      throw .invalid(member: "standing", reason: "is not known to this version")
    }
    var orders: [DeviceCommand] = []
    for value in try Wire.reading(object.optionalArray("orders")) ?? [] {
      guard case .object(let member) = value else {
        throw .invalid(member: "orders", reason: "has an element that is not an object")
      }
      orders.append(try DeviceCommand(member))
    }
    let policies: AccountPolicySet
    do { policies = try AccountPolicySet(try object.wireObject("policies")) } catch let failure as WireFailure
    {
      throw failure
    } catch {
      throw .invalid(member: "policies", reason: "are not known to this version: \(error)")
    }
    return DeviceStatus(
      revision: try object.wireInteger("revision"),
      challenge: try object.wireBytes("challenge", count: DeviceStatus.challengeByteCount),
      policies: policies, compliance: compliance,
      // Sanitized instead of rejected: a lock must take effect even if its reason is not valid.
      reason: DeviceCommand.plain(try Wire.reading(object.optionalString("reason")) ?? ""), orders: orders)
  }
}
