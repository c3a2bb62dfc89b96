import SignetCrypto
import SignetJSON
import SignetSystem

/// A typed reader of claims, in which servers and apps write numbers as numbers or as texts.
struct PushAuthClaims {
  let object: JSONObject

  init(_ object: JSONObject) { self.object = object }

  /// Returns a required text that is not empty.
  func text(_ claim: String, named name: String, limit: Int = 4096) throws(PushAuthFailure) -> String {
    guard let text = try optionalText(claim, named: name, limit: limit), !text.isEmpty else {
      throw .missing(name)
    }
    return text
  }

  /// Returns an optional text; a claim of another type counts as absent.
  func optionalText(
    _ claim: String, named name: String, limit: Int = 4096
  ) throws(PushAuthFailure) -> String? {
    guard case .string(let text)? = object[claim] else { return nil }
    guard text.utf8.count <= limit else { throw .invalid(name, reason: "is longer than \(limit) bytes") }
    return text
  }

  /// Returns a number, also from a text; `nil` if the claim is absent, empty or of another type.
  func number(_ claim: String) -> Double? {
    switch object[claim] {
    case .integer(let integer): return Double(integer)
    case .number(let number): return number
    case .string(let text):
      let text = text.trimmed
      // Excludes "inf", "nan" and "0x1p4", which Swift would parse too.
      guard (1...32).contains(text.utf8.count),
        text.utf8.allSatisfy({ 0x30...0x39 ~= $0 || [0x2B, 0x2D, 0x2E, 0x45, 0x65].contains($0) })
      else { return nil }
      return Double(text).flatMap { $0.isFinite ? $0 : nil }
    default: return nil
    }
  }

  /// Decodes Base64 in either alphabet, with or without padding.
  static func base64(_ text: String, named name: String) throws(PushAuthFailure) -> [UInt8] {
    guard let bytes = Base64.decodeLeniently(text) else { throw .invalid(name, reason: "is not Base64") }
    return bytes
  }
}

extension String {
  /// Indicates whether there are no control characters and none that change the text direction.
  var isPlainText: Bool { unicodeScalars.allSatisfy { !$0.steersText } }

  /// The text decoded from Base64 in either alphabet; the text itself if it is not Base64 of a plain text.
  var decodedFromBase64: String {
    guard let bytes = Base64.decodeLeniently(self), !bytes.isEmpty,
      let text = String(validating: bytes, as: UTF8.self), text.isPlainText
    else { return self }
    return text
  }
}
