import SignetCrypto
import Testing

/// Keys verify one signature or many, for many tasks at once.
@Suite(.timeLimit(.minutes(10))) struct VerificationKeyTests {
  private static let order: [UInt8] =
    [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF] + [
      0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    ]

  @Test("repeated valid and invalid signatures are verified correctly") func alike() throws {
    let privateKey = P256.Signing.PrivateKey()
    let message: [UInt8] = [1, 2, 3]
    let good = try privateKey.signature(for: message).rawRepresentation
    let zero = [UInt8](repeating: 0, count: 32)
    var flipped = good
    flipped[63] ^= 1
    let cases: [([UInt8], Bool)] = [
      (good, true), (flipped, false), (zero + zero, false), (zero + good[32...], false),
      (Array(good[..<32]) + zero, false), (Self.order + good[32...], false),
      (Array(good[..<32]) + Self.order, false), ([UInt8](repeating: 0xFF, count: 64), false),
    ]
    for (raw, isValid) in cases {
      let signature = try ECDSASignature(rawRepresentation: raw)
      let key = try P256.Signing.PublicKey(x963: privateKey.publicKey.x963Representation)
      for _ in 0..<3 { #expect(key.isValidSignature(signature, for: message) == isValid) }
      // An invalid one does not affect the next.
      #expect(key.isValidSignature(try ECDSASignature(rawRepresentation: good), for: message))
      #expect(!key.isValidSignature(try ECDSASignature(rawRepresentation: good), for: [1, 2, 4]))
    }
  }

  @Test("keys that are made and released side by side are never mixed up") func manyKeys()
    async throws
  {
    let message: [UInt8] = [7]
    let pairs = try (0..<8).map { _ in
      let key = P256.Signing.PrivateKey()
      return (key.publicKey.x963Representation, try key.signature(for: message))
    }
    await withTaskGroup(of: Bool.self) { group in
      for index in 0..<64 {
        group.addTask {
          do {
            let right = try P256.Signing.PublicKey(x963: pairs[index % 8].0)
            let wrong = try P256.Signing.PublicKey(x963: pairs[(index + 1) % 8].0)
            let signature = pairs[index % 8].1
            return right.isValidSignature(signature, for: message)
              && !wrong.isValidSignature(signature, for: message)
              && right.isValidSignature(signature, for: message)
          } catch {
            return false
          }
        }
      }
      for await isRight in group { #expect(isRight) }
    }
  }

  @Test("fifty tasks that share a fresh key") func shared() async throws {
    let message: [UInt8] = [7]
    let privateKey = P256.Signing.PrivateKey()
    let signature = try privateKey.signature(for: message)
    let key = try P256.Signing.PublicKey(x963: privateKey.publicKey.x963Representation)
    await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<50 { group.addTask { key.isValidSignature(signature, for: message) } }
      for await isRight in group { #expect(isRight) }
    }
  }
}
