public import SignetJSON
import SignetCrypto

extension JSONObject {
  /// Decodes a required string of strict base64url without padding (RFC 7515 section 2).
  ///
  /// - Throws: ``JSONFailure`` with the member's name if it is missing, of another type or not base64url.
  public func bytes(_ name: String) throws(JSONFailure) -> [UInt8] {
    guard let value = try optionalBytes(name) else { throw .missingMember(name) }
    return value
  }

  /// Decodes an optional string of strict base64url without padding.
  ///
  /// - Throws: ``JSONFailure`` with the member's name if it is of another type or not base64url.
  public func optionalBytes(_ name: String) throws(JSONFailure) -> [UInt8]? {
    guard let text = try optionalString(name) else { return nil }
    do {
      return try Base64URL.decode(text)
    } catch {
      throw .notBase64URL(member: name)
    }
  }
}
