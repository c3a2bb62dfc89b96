import SignetCrypto
import SignetJSON
import SignetServerTesting
import SignetStorage
import SignetUAF
import Testing
import UAFFixture

/// Registration and authentication with a key of every algorithm, over HTTPS with the real server; OpenSSL makes the keys that
/// our code cannot.
@Suite(.timeLimit(.minutes(10))) struct UAFAlgorithmTests {
  /// An algorithm with an encoding of its keys.
  struct Kind: Sendable, CustomTestStringConvertible {
    let algorithm: UAFAlgorithm
    let format: UAFKeyFormat
    var testDescription: String { "\(algorithm) \(format)" }
  }

  static let kinds: [Kind] = [
    .p256RAW, .p256DER, .rsaPSSRAW, .rsaPSSDER, .secp256k1RAW, .secp256k1DER, .rsaPKCS1RAW, .rsaPKCS1DER,
  ].flatMap { (algorithm: UAFAlgorithm) in
    (algorithm.scheme?.keyFormats ?? []).map { Kind(algorithm: algorithm, format: $0) }
  }

  private func status(
    _ operation: UAFOperation, _ server: UAFServer, _ key: UAFTestKey,
    _ spoil: (inout UAFAttempt) -> Void = { _ in }
  ) async throws -> Int64 {
    var attempt = UAFAttempt(operation)
    spoil(&attempt)
    return try await attempt.send(to: server, key).integer("statusCode")
  }

  @Test(
    "each registers, signs in and confirms; a flipped bit anywhere in its signature is refused (22)",
    arguments: kinds)
  func everyAlgorithm(_ kind: Kind) async throws {
    var key = UAFTestKey(kind.algorithm, kind.format)
    let server = try await UAFServer(key)
    // The signature's first, middle and last byte, also behind its wrapping.
    for place in [0.0, 0.5, 1.0] {
      let refused = try await status(.registration, server, key) { attempt in
        attempt.parts = { Self.flip(&$0[1].content, from: 4, place) }
      }
      #expect(refused == 1496, "\(place)")
    }
    #expect(try await status(.registration, server, key) == 1200)
    let stored = try await server.storage.uafCredentials(user: "alice")
    #expect(
      stored.map(\.algorithm) == [kind.algorithm.rawValue] && stored.map(\.publicKey) == [key.encodedKey])
    key.signCounter = 2
    for place in [0.0, 0.5, 1.0] {
      let refused = try await status(.authentication, server, key) { attempt in
        attempt.parts = { Self.flip(&$0[1].content, from: 0, place) }
      }
      #expect(refused == 1498, "\(place)")
    }
    #expect(try await status(.authentication, server, key) == 1200)
    key.signCounter = 3
    let confirmed = try await status(.authentication, server, key) {
      $0.context = #"{"username":"alice","transaction":"Pay 10 to Bob"}"#
    }
    #expect(confirmed == 1200)
  }

  @Test("the signature of another key of the same algorithm is refused (23)", arguments: kinds)
  func otherKeys(_ kind: Kind) async throws {
    var key = UAFTestKey(kind.algorithm, kind.format)
    let server = try await UAFServer(key)
    let other = UAFTestKey(kind.algorithm, kind.format, isOther: true)
    try #require(other.encodedKey != key.encodedKey)
    let swapped = try await status(.registration, server, key) { attempt in
      attempt.elements = { $0.change(.publicKey) { $0 = other.encodedKey } }
    }
    #expect(swapped == 1496)
    #expect(try await status(.registration, server, key) == 1200)
    key.signCounter = 2
    (key.signer, key.privateKey) = (other.signer, other.privateKey)
    #expect(try await status(.authentication, server, key) == 1498)
  }

  @Test(
    "SM2, ECDAA and unassigned numbers are refused as algorithms",
    arguments: [0x0007, 0x000A, 0xFFFF] as [UInt16])
  func unknown(_ number: UInt16) async throws {
    let key = UAFTestKey()
    let server = try await UAFServer(key)
    let refused = try await status(.registration, server, key) { attempt in
      attempt.elements = {
        $0.change(.assertionInfo) {
          $0[3] = UInt8(number & 0xFF); $0[4] = UInt8(number >> 8)
        }
      }
    }
    #expect(refused == 1495)
  }

  private static func flip(_ bytes: inout [UInt8], from start: Int, _ place: Double) {
    let index = start + Int((Double(bytes.count - 1 - start) * place).rounded(.down))
    bytes[index] ^= 0x10
  }
}
