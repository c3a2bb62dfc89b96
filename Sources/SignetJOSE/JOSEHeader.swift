public import SignetJSON

/// The protected header of a JWS or JWE (RFC 7515 section 4, RFC 7516 section 4).
///
/// Keys that a header contains or refers to (`jwk`, `jku`, `x5c`, `x5u`) are available in ``parameters`` but never used.
public struct JOSEHeader: Sendable, Hashable {
  /// All members as received.
  public let parameters: JSONObject
  /// The member `alg` as received.
  public let algorithm: String
  /// The member `kid`, which names the key; an untrusted hint.
  public let keyID: String?
  /// The member `typ`, the media type of the whole object.
  public let type: String?
  /// The member `cty`, the media type of the content.
  public let contentType: String?

  /// The limits for the size of a header; certificates in `x5c` fit.
  static let limits = JSONLimits(maximumDepth: 8, maximumByteCount: 16_384, maximumMemberCount: 256)

  /// Parses the decoded header, and rejects every extension that changes the processing of the object.
  init(parsing bytes: [UInt8]) throws(JOSEFailure) {
    do throws(JSONFailure) {
      parameters = try JSONObject(parsing: bytes, limits: Self.limits)
      algorithm = try parameters.string("alg")
      keyID = try parameters.optionalString("kid")
      type = try parameters.optionalString("typ")
      contentType = try parameters.optionalString("cty")
    } catch {
      throw .malformedHeader(error)
    }
    try Self.refuseExtensions(parameters)
  }

  /// Rejects `crit` and `b64`: no extension is supported, so any well-formed `crit` names an unknown one.
  private static func refuseExtensions(_ parameters: JSONObject) throws(JOSEFailure) {
    if let critical = parameters["crit"] {
      guard case .array(let names) = critical, !names.isEmpty, Set(names).count == names.count else {
        throw .malformedCritical
      }
      for name in names {
        guard case .string(let text) = name, parameters.contains(text), !registered.contains(text) else {
          throw .malformedCritical
        }
      }
      throw .unknownCritical
    }
    if parameters.contains("b64") { throw .unencodedPayload }
  }

  /// The standard names, which `crit` must not contain (RFC 7515 section 4.1.11).
  private static let registered: Set<String> = [
    "alg", "jku", "jwk", "kid", "x5u", "x5c", "x5t", "x5t#S256", "typ", "cty", "crit", "enc", "zip", "epk",
    "apu", "apv", "iv", "tag", "p2s", "p2c",
  ]
}
