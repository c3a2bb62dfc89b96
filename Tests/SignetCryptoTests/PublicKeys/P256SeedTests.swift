import SignetCrypto
import Testing

@Suite("P-256 keys as uniform seeds")
struct P256SeedTests {
  private static let order = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"

  private func key(_ hexadecimal: String) throws -> P256.Signing.PrivateKey {
    try P256.Signing.PrivateKey(seed: SecretBytes(copying: Hex.decode(hexadecimal)))
  }

  private func scalar(_ key: P256.Signing.PrivateKey) -> String {
    Hex.encode(key.rawRepresentation.insecureCopy())
  }

  @Test("every seed gives a key, also zero, the order, its neighbours and the maximum")
  func edges() throws {
    let zeros = String(repeating: "0", count: 32)
    let one = String(repeating: "0", count: 63) + "1"
    #expect(try scalar(key(zeros + String(repeating: "0", count: 64))) == one)
    // The modulus is the order minus one.
    #expect(try scalar(key(zeros + Self.order.dropLast() + "0")) == one)
    #expect(try scalar(key(zeros + Self.order.dropLast() + "1")) == one.dropLast() + "2")
    #expect(try scalar(key(zeros + Self.order.dropLast(2) + "4f")) == Self.order.dropLast() + "0")
    // 2^384 - 1, computed with Python's integers.
    #expect(
      try scalar(key(String(repeating: "f", count: 96)))
        == "431905529c0166ce652e96b7ccca0a9a679b73e29ad16947f01cf012fc632550")
  }

  @Test("a random seed of a key gives the same key, and differs each time")
  func roundTrip() throws {
    for _ in 0..<20 {
      let key = P256.Signing.PrivateKey()
      let first = try key.randomSeed()
      let second = try key.randomSeed()
      let isSame = first.isEqual(to: second)
      #expect(!isSame)
      let (one, two) = (try P256.Signing.PrivateKey(seed: first), try P256.Signing.PrivateKey(seed: second))
      #expect(one.publicKey == key.publicKey)
      #expect(two.publicKey == key.publicKey)
    }
  }

  @Test("seeds of another length are refused", arguments: [0, 32, 47, 49])
  func lengths(_ count: Int) {
    #expect(throws: CryptoFailure.invalidPrivateKey) {
      _ = try P256.Signing.PrivateKey(seed: SecretBytes.random(byteCount: count))
    }
  }
}
