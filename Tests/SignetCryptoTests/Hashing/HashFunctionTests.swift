import SignetCrypto
import Testing

@Suite struct HashFunctionTests {
  static let twoBlocks = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"
  static let longBlocks =
    "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"

  @Test(
    "FIPS 180 examples",
    arguments: [
      (HashFunction.sha1, "abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
      (.sha1, twoBlocks, "84983e441c3bd26ebaae4aa1f95129e5e54670f1"),
      (.sha256, "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (.sha256, twoBlocks, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"),
      (
        .sha384, "abc",
        "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7"
      ),
      (
        .sha384, longBlocks,
        "09330c33f71147e83d192fc782cd1b4753111b173b3b05d22fa08086e3b0f712fcc7c71a557e2db966c3e9fa91746039"
      ),
      (
        .sha512, "abc",
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
      ),
      (
        .sha512, longBlocks,
        "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909"
      ),
    ])
  func matchesTheStandard(_ function: HashFunction, _ message: String, _ digest: String) {
    #expect(Hex.encode(function.digest(of: ascii(message))) == digest)
    #expect(digest.count == function.byteCount * 2)
    let secret = SecretBytes(copying: ascii(message))
    #expect(secret.withBytes { Hex.encode(function.digest(of: $0)) } == digest)
  }

  @Test("a million times a, in parts (FIPS 180)")
  func incremental() {
    var hash = IncrementalHash(.sha256)
    let part = [UInt8](repeating: UInt8(ascii: "a"), count: 1000)
    let samePart = SecretBytes(copying: part)
    for _ in 0..<500 {
      hash.update(part)
      samePart.withBytes { hash.update($0) }
    }
    #expect(
      Hex.encode(hash.finish()) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
  }

  @Test func emptyMessage() {
    #expect(
      Hex.encode(HashFunction.sha256.digest(of: []))
        == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    #expect(IncrementalHash(.sha256).finish() == HashFunction.sha256.digest(of: []))
  }
}
