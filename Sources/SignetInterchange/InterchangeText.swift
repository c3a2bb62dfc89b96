import SignetCrypto
import SignetJSON
import SignetOATH
import SignetSystem

/// Checks and conversions of text from untrusted files and URIs.
enum InterchangeText {
  /// Rejects text that is too long, or that could manipulate the display.
  static func check(
    _ text: String, _ member: String, limit: Int = OTPAccount.maximumTextByteCount
  ) throws(InterchangeFailure) {
    guard text.utf8.count <= limit else { throw .tooLarge(member, limit: limit) }
    var markCount = 0
    for scalar in text.unicodeScalars {
      guard !isForbidden(scalar) else { throw .invalid(member, reason: "has a control character") }
      markCount = isMark(scalar) ? markCount + 1 : 0
      guard markCount <= maximumMarkCount else {
        throw .invalid(member, reason: "has more than \(maximumMarkCount) combining marks in a row")
      }
    }
  }

  /// More than any script needs: a long run is slow to compare, and its marks cover the text around it.
  private static let maximumMarkCount = 16

  private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
    guard scalar.value >= 0x300 else { return false }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .spacingMark: return true
    default: return false
    }
  }

  /// Indicates whether a scalar is a control character, changes the text direction, or is not allowed in XML.
  private static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
    scalar.steersText || [0xFFFE, 0xFFFF].contains(scalar.value)
  }

  /// Converts ASCII letters to lower case and keeps all other characters.
  static func lowercased(_ text: some StringProtocol) -> String {
    String(decoding: text.utf8.map { 0x41...0x5A ~= $0 ? $0 + 0x20 : $0 }, as: UTF8.self)
  }

  /// Parses a whole number of ASCII digits.
  static func number<Number: FixedWidthInteger>(_ text: String) -> Number? {
    let text = text.trimmed
    guard !text.isEmpty, text.utf8.count <= 20, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else {
      return nil
    }
    return Number(text)
  }

  /// Returns the algorithm with this name: `SHA1`, `sha-256`, `HmacSHA512`, `HMAC-SHA-256`.
  static func algorithm(_ name: String) throws(InterchangeFailure) -> OATHAlgorithm {
    var normalized = lowercased(name.trimmed).filter { $0 != "-" && $0 != "_" && $0 != " " }
    for prefix in ["hotp", "hmac"] where normalized.hasPrefix(prefix) { normalized.removeFirst(prefix.count) }
    guard let algorithm = OATHAlgorithm(anyName: normalized) else {
      throw .unsupportedAlgorithm(String(name.prefix(40)))
    }
    return algorithm
  }

  /// Decodes a Base32 secret; spaces, hyphens and padding are ignored anywhere.
  static func secret(_ text: String, mode: Base32.Mode = .lenient) throws(InterchangeFailure)
    -> SharedSecretBox
  {
    guard text.utf8.count < Base32.byteCountLimit else { throw .secret(.tooLong(byteCount: text.utf8.count)) }
    let symbols = text.filter { !$0.isWhitespace && $0 != "-" && $0 != "=" }
    do throws(Base32Failure) {
      return SharedSecretBox(try Base32.decodeSecret(symbols, mode: mode))
    } catch { throw .secret(error) }
  }

  /// Encodes a secret as Base32 without padding, for exports.
  static func base32(_ secret: SharedSecretBox) -> String {
    secret.withSecret { secret in
      secret.withTemporaryArray { Base32.encode($0) }
    }
  }

  /// Decodes Base64 in either alphabet, with or without padding and white space; `nil` for other text.
  static func base64(_ text: String) -> [UInt8]? {
    Base64.decodeLeniently(text)
  }

  /// Decodes Base64 of a displayable text; `nil` for other text.
  static func base64Text(_ text: String) -> String? {
    guard let bytes = base64(text), !bytes.isEmpty, let decoded = String(validating: bytes, as: UTF8.self)
    else { return nil }
    return decoded.unicodeScalars.contains(where: isForbidden) ? nil : decoded
  }
}
