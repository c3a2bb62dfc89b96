import SignetCrypto
import SignetJSON
import SignetSystem

/// A user's decision: the payload that the signing key signs (`docs/protocol.md` section 5).
public struct Decision: Hashable, Sendable {
  /// The `typ` of the JWS.
  public static let type = "signet-decision"

  /// The transaction that the user decided.
  public let transaction: TransactionID
  /// The displayed content: the ``TransactionContent/json`` of the transaction.
  public let content: String
  /// The user's choice.
  public let status: DecisionStatus
  /// The time of the decision by the device's clock, in seconds since 1970.
  public let time: Int64
  /// The time at which the transaction expires, in seconds since 1970.
  public let expires: Int64
  /// The server id.
  public let server: ServerURL
  /// The user who decided.
  public let user: UserID
  /// The container whose key signs.
  public let container: ContainerID
  /// The id of the installation, 16 bytes.
  public let device: [UInt8]
  /// The number that the relying party displayed and the user typed; `nil` if none was requested.
  public let number: MatchingNumber?
  /// The app's data about the circumstances for the relying party, 1 to 750 bytes; Signet does not interpret it.
  public let deviceContext: [UInt8]?

  /// Creates the decision of a transaction.
  public init(
    _ status: DecisionStatus, of request: TransactionRequest, at time: Int64, server: ServerURL, user: UserID,
    container: ContainerID, device: [UInt8], number: MatchingNumber? = nil, deviceContext: [UInt8]? = nil
  ) {
    transaction = request.id
    content = request.content.json
    expires = request.expires
    self.status = status
    self.time = time
    self.number = number
    self.server = server
    self.user = user
    self.container = container
    self.device = device
    self.deviceContext = deviceContext
  }

  /// Validates the length of an app's data about the circumstances.
  ///
  /// - Throws: ``WireFailure/invalid(member:reason:)`` unless it has 1 to 750 bytes.
  public static func check(deviceContext: [UInt8]) throws(WireFailure) {
    guard (1...750).contains(deviceContext.count) else {
      throw .invalid(member: "deviceContext", reason: "must have 1 to 750 bytes")
    }
  }

  /// Parses the payload of a decision.
  ///
  /// - Throws: ``WireFailure`` if the payload is not of the protocol's form.
  public init(parsing bytes: [UInt8]) throws(WireFailure) {
    let object = try Wire.object(bytes)
    try Wire.checkVersion(object)
    transaction = try TransactionID(object.wireString("transaction"))
    content = try object.wireString("content")
    guard let status = DecisionStatus(rawValue: try object.wireName("status")) else {
      throw .invalid(member: "status", reason: "is not a decision")
    }
    self.status = status
    time = try object.wireInteger("time")
    expires = try object.wireInteger("expires")
    server = try ServerURL(serverID: object.wireString("server"))
    user = try UserID(object.wireString("user"))
    container = try ContainerID(object.wireString("container"))
    device = try object.wireBytes("device", count: 16)
    let number = try Wire.reading(object.optionalString("number"))
    self.number = try number.map { (digits) throws(WireFailure) in try MatchingNumber(digits) }
    deviceContext =
      try object.contains("deviceContext") ? object.wireBytes("deviceContext", count: nil) : nil
    if let deviceContext { try Self.check(deviceContext: deviceContext) }
  }

  /// The payload to sign.
  public var bytes: [UInt8] {
    var object = JSONObject()
    object["version"] = .integer(Wire.version)
    object["transaction"] = .string(transaction.text)
    object["content"] = .string(content)
    object["status"] = .string(status.rawValue)
    object["time"] = .integer(time)
    object["expires"] = .integer(expires)
    object["server"] = .string(server.fullForm)
    object["user"] = .string(user.text)
    object["container"] = .string(container.text)
    object["device"] = .string(Base64URL.encode(device))
    if let number { object["number"] = .string(number.digits) }
    if let deviceContext { object["deviceContext"] = .string(Base64URL.encode(deviceContext)) }
    return JSONValue.object(object).bytes
  }

  /// Indicates whether this content was displayed, byte for byte.
  public func isAbout(_ content: String) -> Bool { self.content.hasSameBytes(as: content) }
}

/// The decisions that a user can make.
public enum DecisionStatus: String, Hashable, Sendable, CaseIterable {
  /// The user approves.
  case accepted
  /// The user declines.
  case denied
  /// The user did not start the transaction: another person did.
  case reported
}
