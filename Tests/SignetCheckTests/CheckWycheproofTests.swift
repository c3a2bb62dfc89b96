import Foundation
import SignetJSON
import Testing

/// Wycheproof's files, if they are available; the README next to them has the source and license.
enum Wycheproof {
  static let folder = URL(
    filePath: ProcessInfo.processInfo.environment["SIGNET_VECTORS"] ?? "../shared/vectors"
  ).appending(path: "wycheproof")
  static let isPresent = FileManager.default.fileExists(atPath: folder.path)

  /// Returns the groups of a file with their tests.
  static func groups(_ file: String) throws -> [(group: JSONObject, tests: [JSONObject])] {
    let bytes = Array(try Data(contentsOf: folder.appending(path: file + ".json")))
    let limits = JSONLimits(maximumDepth: 32, maximumByteCount: bytes.count, maximumMemberCount: 1 << 20)
    return try JSONObject(parsing: bytes, limits: limits).array("testGroups").map { value in
      guard case .object(let group) = value else { throw JSONFailure.notAnObject }
      let tests = try group.array("tests").map { test in
        guard case .object(let test) = test else { throw JSONFailure.notAnObject }
        return test
      }
      return (group, tests)
    }
  }
}

@Suite(
  "Wycheproof through signet-check", .timeLimit(.minutes(10)),
  .enabled(if: Wycheproof.isPresent, "needs the vectors"))
struct CheckWycheproofTests {
  @Test("ECDH on P-256 gives the expected secret or an error")
  func ecdh() throws {
    let tests = try Wycheproof.groups("ecdh_secp256r1_test").flatMap(\.tests)
    let answers = try CheckTool.answers(
      to: try tests.map { test in
        [
          "op": "ecdh", "encoding": "spki", "publicHex": try test.value("public"),
          "privateHex": try test.value("private"),
        ]
      })
    #expect(tests.count > 600 && answers.count == tests.count)
    for (test, answer) in zip(tests, answers) {
      let result = try test.string("result")
      let shared = answer.ok?["sharedHex"]
      // An acceptable case is rejected, or gives the right secret.
      let isRight = shared == test["shared"] && result != "invalid" || shared == nil && result != "valid"
      #expect(isRight, "\(test["tcId"] ?? nil) \(result): \(answer.text)")
    }
  }

  @Test("ECDSA on P-256, DER and raw", arguments: ["der", "raw"])
  func ecdsa(form: String) throws {
    let file = form == "der" ? "ecdsa_secp256r1_sha256_test" : "ecdsa_secp256r1_sha256_p1363_test"
    var requests: [JSONObject] = []
    var expected: [JSONObject] = []
    for (group, tests) in try Wycheproof.groups(file) {
      let point = try group.object("publicKey").value("uncompressed")
      for test in tests {
        let common: JSONObject = [
          "id": try test.value("tcId"), "op": "ecdsa-verify", "messageHex": try test.value("msg"),
          "signatureHex": try test.value("sig"), "form": .string(form), "curve": "P-256",
        ]
        for (encoding, key) in [("spki", try group.value("publicKeyDer")), ("point", point)] {
          var request = common
          request["encoding"] = .string(encoding)
          request["publicHex"] = key
          requests.append(request)
          expected.append([
            "id": try test.value("tcId"), "ok": ["valid": .bool(try test.string("result") == "valid")],
          ])
        }
      }
    }
    #expect(requests.count > 500)
    #expect(try CheckTool.answers(to: requests) == expected)
  }

  @Test("JWS: only valid signatures verify, except those with an unsupported algorithm")
  func jws() throws {
    let (verified, unsupported) = try check("json_web_signature_test")
    #expect(verified >= 40)
    #expect(unsupported == 4)  // PS384 under a key for PS256, and P-521
  }

  @Test("JWK sets: nothing invalid verifies, everything valid does")
  func jwk() throws {
    let (verified, unsupported) = try check("json_web_key_test")
    #expect(verified == 5)
    #expect(unsupported == 0)
  }

  /// Cases of the JWS file with intentionally different answers.
  ///
  /// 367 and 370 are marked invalid and have the same bytes as 357, which is marked valid. 372 and 373 are marked valid and have
  /// a question mark inside base64url (RFC 7515 section 5.2 step 2).
  private static let deviations: Set<Int64> = [367, 370, 372, 373]

  private func check(_ file: String) throws -> (verified: Int, unsupported: Int) {
    var tests: [JSONObject] = []
    var requests: [JSONObject] = []
    for (group, cases) in try Wycheproof.groups(file) {
      for test in cases {
        if file == "json_web_signature_test", Self.deviations.contains(try test.integer("tcId")) { continue }
        tests.append(test)
        requests.append([
          "op": "jws-verify", "jws": try test.value("jws"),
          "jwk": try group["public"] ?? group.value("private"),
        ])
      }
    }
    var (verified, unsupported) = (0, 0)
    for (test, answer) in zip(tests, try CheckTool.answers(to: requests)) {
      switch (try test.string("result"), answer.errorCode) {
      case ("valid", nil): verified += 1
      case ("valid", "jose.algorithm"), ("valid", "jwk.unsupported"): unsupported += 1
      case ("invalid", .some): break
      case (let result, _):
        Issue.record("\(test["tcId"] ?? nil) \(test["comment"] ?? nil) \(result): \(answer.text)")
      }
    }
    return (verified, unsupported)
  }
}
