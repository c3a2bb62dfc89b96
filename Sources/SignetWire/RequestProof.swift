public import SignetCrypto
import SignetJSON

/// What a device signs with each request (`docs/protocol.md` section 4).
public struct RequestProof: Hashable, Sendable {
  /// The scheme's name in the `Authorization` header.
  public static let scheme = "Signet"
  /// The `typ` of the JWS.
  public static let type = "signet-request"
  /// How far the device's clock may be off, in seconds.
  public static let leeway: Int64 = 120

  /// The HTTP method, upper case.
  public let method: String
  /// The path from the first `/`, domain included, without a query.
  public let path: String
  /// SHA-256 of the body, 32 bytes.
  public let bodyDigest: [UInt8]
  /// When it was signed, in seconds since 1970.
  public let time: Int64
  /// Never used twice; 16 bytes.
  public let id: [UInt8]

  /// Describes a request about to be sent, with a fresh id.
  ///
  /// The id is made of random bytes and of all else: where a generator that was tampered with repeats itself, the report that says so
  /// is no replay of the request before it.
  public init(method: String, path: String, body: [UInt8], time: Int64, random: some RandomSource) {
    (self.method, self.path, self.time) = (method, path, time)
    bodyDigest = HashFunction.sha256.digest(of: body)
    let image = random.bytes(16) + bodyDigest + Array("\(time) \(method) \(path)".utf8)
    id = Array(HashFunction.sha256.digest(of: image).prefix(16))
  }

  /// Reads the payload of a JWS.
  ///
  /// - Throws: ``WireFailure``.
  public init(parsing bytes: [UInt8]) throws(WireFailure) {
    let object = try Wire.object(bytes)
    method = try object.wireString("method")
    path = try object.wireString("path")
    bodyDigest = try object.wireBytes("body", count: 32)
    time = try object.wireInteger("time")
    id = try object.wireBytes("id", count: 16)
  }

  /// The payload of the JWS.
  public var bytes: [UInt8] {
    var object = JSONObject()
    object["method"] = .string(method)
    object["path"] = .string(path)
    object["body"] = .string(Base64URL.encode(bodyDigest))
    object["time"] = .integer(time)
    object["id"] = .string(Base64URL.encode(id))
    return JSONValue.object(object).bytes
  }

  /// Whether this proof is for that request, now; the id's first use is for the caller to claim.
  public func covers(method: String, path: String, body: [UInt8], now: Int64) -> Bool {
    // The time comes from outside, so the difference may not fit: then it is not within the leeway either.
    let (age, overflow) = now.subtractingReportingOverflow(time)
    guard !overflow, (-Self.leeway...Self.leeway).contains(age) else { return false }
    return self.method == method && self.path == path
      && bodyDigest == HashFunction.sha256.digest(of: body)
  }
}
