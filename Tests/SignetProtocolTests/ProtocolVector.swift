import Foundation
import SignetCrypto
import SignetJSON
import SignetProtocol
import Testing

/// One activation, or one renewal, that independent code computed from the protocol's text; `Vectors/README.md` says how.
struct ProtocolVector: Sendable, CustomTestStringConvertible {
  let id: String
  private let members: JSONObject

  var testDescription: String { id }

  static func load(_ name: String = "activation") throws -> [ProtocolVector] {
    let url = try #require(
      Bundle.module.url(forResource: name, withExtension: "json", subdirectory: "Vectors"))
    guard case .array(let values) = try JSONValue(parsing: Array(Data(contentsOf: url))) else { return [] }
    return try values.map { value in
      guard case .object(let members) = value else { throw WireFailure.json(.notAnObject) }
      return ProtocolVector(id: try members.string("id"), members: members)
    }
  }

  /// Returns whether there is a value of this name.
  func contains(_ name: String) -> Bool { members.contains(name) }

  func text(_ name: String) throws -> String { try members.string(name) }
  func texts(_ name: String) throws -> [String] { try members.strings(name) }
  func utf8(_ name: String) throws -> [UInt8] { Array(try text(name).utf8) }
  func integer(_ name: String) throws -> Int64 { try members.integer(name) }
  func hex(_ name: String) throws -> [UInt8] { try Hex.decode(text(name)) }
  func secret(_ name: String) throws -> SecretBytes { SecretBytes(copying: try hex(name)) }

  func signingKey(_ name: String) throws -> P256.Signing.PrivateKey {
    try P256.Signing.PrivateKey(rawRepresentation: secret(name))
  }
  func agreementKey(_ name: String) throws -> P256.KeyAgreement.PrivateKey {
    try P256.KeyAgreement.PrivateKey(rawRepresentation: secret(name))
  }
}

extension SecretBytes {
  /// The bytes of a secret that is published in a file.
  borrowing func published() -> [UInt8] {
    withBytes { span in
      (0..<span.byteCount).map { span.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
    }
  }
}
