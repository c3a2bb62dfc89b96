public import SignetCrypto
import SignetJOSE
import SignetJSON
public import SignetPolicy

/// A device's report about itself, signed by the container's session key (`docs/protocol.md` section 14.2).
///
/// It answers one challenge of the server, so the server accepts it once.
public struct PostureReport: Hashable, Sendable {
  /// The `typ` of the JWS.
  static let type = "signet-evidence"

  /// The container.
  public let container: ContainerID
  /// The server id.
  public let server: ServerURL
  /// The id of the installation, 16 bytes.
  public let device: [UInt8]
  /// The challenge that the report answers, 16 bytes.
  public let challenge: [UInt8]
  /// The time of the report by the device's clock, in seconds since 1970.
  public let time: Int64
  /// The last ``DeviceStatus/revision`` that the device has applied.
  public let revision: Int64
  /// The device's measurements of itself.
  public let evidence: AccountEvidence
  /// The lock of the container on the device.
  public let lock: AccountLock

  /// Creates a report that is still to be signed.
  public init(
    container: ContainerID, server: ServerURL, device: [UInt8], challenge: [UInt8], time: Int64,
    revision: Int64, evidence: AccountEvidence, lock: AccountLock
  ) {
    self.container = container
    self.server = server
    self.device = device
    self.challenge = challenge
    self.time = time
    self.revision = revision
    self.evidence = evidence
    self.lock = lock
  }

  /// Parses the JSON payload of a JWS.
  ///
  /// - Throws: ``WireFailure`` if the payload is not of the protocol's form.
  init(parsing bytes: [UInt8]) throws(WireFailure) {
    let object = try Wire.object(bytes)
    try Wire.checkVersion(object)
    container = try ContainerID(object.wireString("container"))
    server = try ServerURL(serverID: object.wireString("server"))
    device = try object.wireBytes("device", count: 16)
    challenge = try object.wireBytes("challenge", count: DeviceStatus.challengeByteCount)
    (time, revision) = (try object.wireInteger("time"), try object.wireInteger("revision"))
    evidence = try Wire.reading(AccountEvidence(object.object("evidence")))
    lock = try Wire.reading(AccountLock(object.object("lock")))
  }

  /// The JSON payload to sign.
  var bytes: [UInt8] {
    let object: JSONObject = [
      "version": .integer(Wire.version), "container": .string(container.text),
      "server": .string(server.fullForm), "device": .string(Base64URL.encode(device)),
      "challenge": .string(Base64URL.encode(challenge)), "time": .integer(time),
      "revision": .integer(revision), "evidence": .object(evidence.json), "lock": .object(lock.json),
    ]
    return object.bytes
  }

  /// Signs the report with ES256; `kid` is the container id.
  ///
  /// - Parameter sign: Signs a message with ECDSA and SHA-256.
  /// - Returns: A compact JWS.
  /// - Throws: The error that `sign` throws.
  public func signed<Failure: Error>(
    by sign: ([UInt8]) async throws(Failure) -> ECDSASignature
  ) async throws(Failure) -> String {
    try await UnsignedJWS.signed(bytes, keyID: container.text, type: Self.type, by: sign)
  }

  /// Verifies and parses a report.
  ///
  /// - Parameters:
  ///   - jws: The report as it arrived, a compact JWS.
  ///   - key: The container's session key.
  /// - Returns: The report; `nil` if the key did not sign it or its payload is malformed.
  public static func verified(_ jws: String, with key: P256.Signing.PublicKey) -> PostureReport? {
    do {
      let message = try ContainerMessage(jws, type: type)
      guard let payload = message.payload(verifiedWith: key) else { return nil }
      let report = try PostureReport(parsing: payload)
      return report.container == message.container ? report : nil
    } catch { return nil }
  }
}
