public import SignetJSON
import SignetCrypto

extension JSONObject {
  /// A member that must be a string of strict base64url without padding (RFC 7515 section 2), decoded.
  ///
  /// - Throws: ``JSONFailure`` that names the member when it is missing, of another type or not base64url.
  public func bytes(_ name: String) throws(JSONFailure) -> [UInt8] {
    guard let found = try optionalBytes(name) else { throw .missingMember(name) }
    return found
  }

  /// A member that is absent or a string of strict base64url without padding, decoded.
  ///
  /// - Throws: ``JSONFailure`` that names the member.
  public func optionalBytes(_ name: String) throws(JSONFailure) -> [UInt8]? {
    guard let text = try optionalString(name) else { return nil }
    do {
      return try Base64URL.decode(text)
    } catch {
      throw .notBase64URL(member: name)
    }
  }
}
