import SignetCrypto
import Testing

@Suite("scrypt (RFC 7914)")
struct ScryptTests {
  /// A vector of RFC 7914 section 12, with the derived key in hexadecimal.
  struct Vector: Sendable {
    let password: String
    let salt: String
    let scrypt: Scrypt
    let key: String
  }

  @Test(
    "section 12",
    arguments: [
      Vector(
        password: "", salt: "", scrypt: Scrypt(cost: 16, blockSize: 1, parallelization: 1),
        key:
          "77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628cf35e20c38d18906"
      ),
      Vector(
        password: "password", salt: "NaCl", scrypt: Scrypt(cost: 1024, blockSize: 8, parallelization: 16),
        key:
          "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b3731622eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640"
      ),
      Vector(
        password: "pleaseletmein", salt: "SodiumChloride",
        scrypt: Scrypt(cost: 16384, blockSize: 8, parallelization: 1),
        key:
          "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887"
      ),
    ])
  func vectors(_ vector: Vector) throws {
    let derived = try vector.scrypt.derive(
      password: SecretBytes(copying: Array(vector.password.utf8)), salt: Array(vector.salt.utf8),
      byteCount: 64)
    #expect(Hex.encode(derived.insecureCopy()) == vector.key)
  }

  @Test(
    "bounds",
    arguments: [
      (Scrypt(cost: 1, blockSize: 1, parallelization: 1), 1),
      (Scrypt(cost: 1000, blockSize: 1, parallelization: 1), 1),
      (Scrypt(cost: 1 << 21, blockSize: 1, parallelization: 1), 1),
      (Scrypt(cost: 16, blockSize: 0, parallelization: 1), 1),
      (Scrypt(cost: 16, blockSize: 65, parallelization: 1), 1),
      (Scrypt(cost: 16, blockSize: 1, parallelization: 0), 1),
      (Scrypt(cost: 16, blockSize: 1, parallelization: 65), 1),
      (Scrypt(cost: 1 << 20, blockSize: 8, parallelization: 1), 1),
      (Scrypt(cost: 16, blockSize: 1, parallelization: 1), 0),
      (Scrypt(cost: 16, blockSize: 1, parallelization: 1), 1025),
      (Scrypt(cost: .max, blockSize: .max, parallelization: .max), 1),
    ])
  func bounds(scrypt: Scrypt, byteCount: Int) {
    #expect(throws: CryptoFailure.self) {
      _ = try scrypt.derive(password: SecretBytes(copying: [1]), salt: [], byteCount: byteCount)
    }
  }
}
