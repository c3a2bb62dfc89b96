public import SignetJSON

/// The protected header of a JWS or JWE (RFC 7515 section 4, RFC 7516 section 4).
///
/// Keys that a header carries or points to (`jwk`, `jku`, `x5c`, `x5u`) are shown among ``parameters`` but never used.
public struct JOSEHeader: Sendable, Hashable {
  /// All members as they were written.
  public let parameters: JSONObject
  /// `alg`, as written.
  public let algorithm: String
  /// `kid`, which names the key; a hint from the sender.
  public let keyID: String?
  /// `typ`, the media type of the whole object.
  public let type: String?
  /// `cty`, the media type of the content.
  public let contentType: String?

  /// The longest header in bytes; certificates in `x5c` would fit, more would not.
  static let limits = JSONLimits(maximumDepth: 8, maximumByteCount: 16_384, maximumMemberCount: 256)

  /// Reads the decoded bytes of a header and refuses every extension that changes how the object is processed.
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

  /// No extension is understood, so any well-formed `crit` names an unknown one.
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

  /// Names that `crit` must not have, because every reader knows them (RFC 7515 section 4.1.11).
  private static let registered: Set<String> = [
    "alg", "jku", "jwk", "kid", "x5u", "x5c", "x5t", "x5t#S256", "typ", "cty", "crit", "enc", "zip", "epk",
    "apu", "apv", "iv", "tag", "p2s", "p2c",
  ]
}
