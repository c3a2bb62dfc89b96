public import SignetCrypto
import SignetJSON

/// The proof that a device signs for each request (`docs/protocol.md` section 4).
public struct RequestProof: Hashable, Sendable {
  /// The scheme's name in the `Authorization` header.
  public static let scheme = "Signet"
  /// The `typ` of the JWS.
  public static let type = "signet-request"
  /// The largest accepted difference between the clocks of device and server, in seconds.
  public static let leeway: Int64 = 120

  /// The HTTP method, upper case.
  public let method: String
  /// The path from the first `/`, domain included, without a query.
  public let path: String
  /// SHA-256 of the body, 32 bytes.
  public let bodyDigest: [UInt8]
  /// The time of signing, in seconds since 1970.
  public let time: Int64
  /// The unique id of the request, 16 bytes.
  public let id: [UInt8]

  /// Creates the proof of a request, with a fresh id.
  ///
  /// The id is a hash of random bytes and of all other members. If a manipulated generator repeats its output, the device
  /// can still report that: its report has another id than the request before it, and is no replay.
  public init(method: String, path: String, body: [UInt8], time: Int64, random: some RandomSource) {
    self.method = method
    self.path = path
    self.time = time
    bodyDigest = HashFunction.sha256.digest(of: body)
    let digestInput = random.bytes(16) + bodyDigest + Array("\(time) \(method) \(path)".utf8)
    id = Array(HashFunction.sha256.digest(of: digestInput).prefix(16))
  }

  /// Parses the JSON payload of a JWS.
  ///
  /// - Throws: ``WireFailure`` for malformed JSON, a missing member or a wrong length.
  public init(parsing bytes: [UInt8]) throws(WireFailure) {
    let object = try Wire.object(bytes)
    method = try object.wireString("method")
    path = try object.wireString("path")
    bodyDigest = try object.wireBytes("body", count: 32)
    time = try object.wireInteger("time")
    id = try object.wireBytes("id", count: 16)
  }

  /// The JSON payload to sign.
  public var bytes: [UInt8] {
    var object = JSONObject()
    object["method"] = .string(method)
    object["path"] = .string(path)
    object["body"] = .string(Base64URL.encode(bodyDigest))
    object["time"] = .integer(time)
    object["id"] = .string(Base64URL.encode(id))
    return JSONValue.object(object).bytes
  }

  /// Indicates whether this proof matches the request and the time; the caller has to reject an id that was used before.
  public func covers(method: String, path: String, body: [UInt8], now: Int64) -> Bool {
    // The time is untrusted, so the difference may overflow: then it is outside the leeway too.
    let (age, overflow) = now.subtractingReportingOverflow(time)
    guard !overflow, (-Self.leeway...Self.leeway).contains(age) else { return false }
    return self.method == method && self.path == path
      && bodyDigest == HashFunction.sha256.digest(of: body)
  }
}
