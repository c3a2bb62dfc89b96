import SignetCrypto
import SignetJSON
import SignetText

/// Claims as servers and apps of this protocol write them: what is a number here may be a text there.
struct PushAuthClaims {
  let object: JSONObject

  init(_ object: JSONObject) { self.object = object }

  /// A text that has to be there and is not empty.
  func text(_ claim: String, named name: String, limit: Int = 4096) throws(PushAuthFailure) -> String {
    guard let text = try optionalText(claim, named: name, limit: limit), !text.isEmpty else {
      throw .missing(name)
    }
    return text
  }

  /// A text that may be absent; a claim of another type counts as absent.
  func optionalText(
    _ claim: String, named name: String, limit: Int = 4096
  ) throws(PushAuthFailure) -> String? {
    guard case .string(let text)? = object[claim] else { return nil }
    guard text.utf8.count <= limit else { throw .invalid(name, reason: "is longer than \(limit) bytes") }
    return text
  }

  /// A number that may be written as a text; `nil` where the claim is absent, empty or of another type.
  func number(_ claim: String) -> Double? {
    switch object[claim] {
    case .integer(let whole): return Double(whole)
    case .number(let number): return number
    case .string(let text):
      let text = text.trimmed
      // No "inf", "nan" and "0x1p4", which Swift would read too.
      guard (1...32).contains(text.utf8.count),
        text.utf8.allSatisfy({ 0x30...0x39 ~= $0 || [0x2B, 0x2D, 0x2E, 0x45, 0x65].contains($0) })
      else { return nil }
      return Double(text).flatMap { $0.isFinite ? $0 : nil }
    default: return nil
    }
  }

  /// The bytes of Base64 in either alphabet, with or without padding.
  static func base64(_ text: String, named name: String) throws(PushAuthFailure) -> [UInt8] {
    guard let bytes = Base64.decodeLeniently(text) else { throw .invalid(name, reason: "is no Base64") }
    return bytes
  }
}

extension String {
  /// Whether no character steers what shows it: control characters, and those that turn the direction of what follows.
  var isPlainText: Bool { unicodeScalars.allSatisfy { !$0.steersText } }

  /// The text that Base64 encodes in either alphabet; itself where it is none.
  var decodedFromBase64: String {
    guard let bytes = Base64.decodeLeniently(self), !bytes.isEmpty,
      let text = String(validating: bytes, as: UTF8.self), text.isPlainText
    else { return self }
    return text
  }
}
