import SignetCrypto
import Testing

@Suite(.timeLimit(.minutes(10))) struct HMACKeyTests {
  struct Vector: Sendable, CustomTestStringConvertible {
    let name: String
    let hash: HashFunction
    let key: [UInt8]
    let message: [UInt8]
    let code: String
    var testDescription: String { name }

    init(_ name: String, _ hash: HashFunction, _ key: [UInt8], _ message: [UInt8], _ code: String) {
      (self.name, self.hash, self.key, self.message, self.code) = (name, hash, key, message, code)
    }
  }

  static let vectors = [
    Vector(
      "RFC 2202, 1", .sha1, [UInt8](repeating: 0x0B, count: 20), ascii("Hi There"),
      "b617318655057264e28bc0b6fb378c8ef146be00"),
    Vector(
      "RFC 2202, 2", .sha1, ascii("Jefe"), ascii("what do ya want for nothing?"),
      "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
    Vector(
      "RFC 4231, 1", .sha256, [UInt8](repeating: 0x0B, count: 20), ascii("Hi There"),
      "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
    Vector(
      "RFC 4231, 1", .sha384, [UInt8](repeating: 0x0B, count: 20), ascii("Hi There"),
      "afd03944d84895626b0825f4ab46907f15f9dadbe4101ec682aa034c7cebc59cfaea9ea9076ede7f4af152e8b2fa9cb6"),
    Vector(
      "RFC 4231, 1", .sha512, [UInt8](repeating: 0x0B, count: 20), ascii("Hi There"),
      "87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cdedaa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854"
    ),
    Vector(
      "RFC 4231, 2", .sha256, ascii("Jefe"), ascii("what do ya want for nothing?"),
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
    Vector(
      "RFC 4231, 3", .sha256, [UInt8](repeating: 0xAA, count: 20), [UInt8](repeating: 0xDD, count: 50),
      "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"),
    Vector(
      "RFC 4231, 4", .sha256, Array(1...25), [UInt8](repeating: 0xCD, count: 50),
      "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"),
    Vector(
      "RFC 4231, 6", .sha256, [UInt8](repeating: 0xAA, count: 131),
      ascii("Test Using Larger Than Block-Size Key - Hash Key First"),
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"),
    Vector(
      "RFC 4231, 7", .sha256, [UInt8](repeating: 0xAA, count: 131),
      ascii(
        "This is a test using a larger than block-size key and a larger than block-size data. The key needs to be hashed before being used by the HMAC algorithm."
      ), "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"),
  ]

  @Test("known answers", arguments: vectors)
  func matchesTheStandard(_ vector: Vector) {
    let key = HMACKey(SecretBytes(copying: vector.key), vector.hash)
    for _ in 0..<3 {  // the key is used again
      #expect(Hex.encode(key.authenticationCode(for: vector.message)) == vector.code)
    }
    let message = SecretBytes(copying: vector.message)
    #expect(message.withBytes { Hex.encode(key.authenticationCode(for: $0)) } == vector.code)
    #expect(Hex.encode(key.secretAuthenticationCode(for: vector.message).insecureCopy()) == vector.code)
  }

  @Test("an empty key is used as an empty key, not as the previous one")
  func emptyKey() {
    let other = HMACKey(SecretBytes(copying: [1]), .sha256)
    let empty = HMACKey(SecretBytes(copying: []), .sha256)
    #expect(
      Hex.encode(empty.authenticationCode(for: []))
        == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
    #expect(empty.authenticationCode(for: []) != other.authenticationCode(for: []))
  }

  @Test func checksTheWholeCode() {
    let key = HMACKey(SecretBytes(copying: [1, 2, 3]), .sha1)
    let code = key.authenticationCode(for: [9])
    #expect(key.isValid(code, for: [9]))
    #expect(!key.isValid(code, for: [8]))
    #expect(!key.isValid(Array(code.dropLast()), for: [9]))
    #expect(!key.isValid(code + [0], for: [9]))
    #expect(!key.isValid([], for: [9]))
  }

  @Test("50 tasks share one key and never mix their messages")
  func manyTasks() async {
    let key = HMACKey(SecretBytes(copying: [7]), .sha256)
    let expected = (0..<50).map { HMACKey(SecretBytes(copying: [7]), .sha256).authenticationCode(for: [$0]) }
    await withTaskGroup(of: Bool.self) { group in
      for (number, code) in expected.enumerated() {
        group.addTask { (0..<200).allSatisfy { _ in key.isValid(code, for: [UInt8(number)]) } }
      }
      for await right in group { #expect(right) }
    }
  }
}
