import SignetCrypto
import SignetJOSE
import SignetJSON
import Testing

/// The JWS cases of project Wycheproof.
@Suite struct JOSEWycheproofTests {
  static let keyFile = "wycheproof/json_web_key_test.json"
  static let signatureFile = "wycheproof/json_web_signature_test.json"

  /// Cases marked `valid` or `invalid` with intentionally different answers, each with the reason.
  static let deviations: [Int: String] = [
    346: "the key's alg is PS256, the message's PS384 (RFC 7517 section 4.4; case 340 refuses the same)",
    350: "as 346",
    347: "P-521 is not supported; ES521, the key's alg, is not a registered name either",
    351: "as 347",
    367: "the same bytes as case 357, which is marked valid",
    370: "the same bytes as case 357, which is marked valid",
    372: "a question mark inside base64url (RFC 7515 section 5.2 step 2)",
    373: "a question mark inside base64url (RFC 7515 section 5.2 step 2)",
  ]

  @Test("keys and sets of keys", .enabled(if: SharedVectors.has(keyFile)))
  func keys() throws {
    let count = try forEachCase(of: Self.keyFile) { id, result, accepted in
      #expect(accepted == (result == "valid"), "case \(id)")
    }
    #expect(count == 26)
  }

  @Test("signatures", .enabled(if: SharedVectors.has(signatureFile)))
  func signatures() throws {
    let count = try forEachCase(of: Self.signatureFile) { id, result, accepted in
      let expected = (result == "valid") != (Self.deviations[id] != nil)
      #expect(accepted == expected, "case \(id)")
    }
    #expect(count == 401)
  }

  private func forEachCase(of path: String, _ check: (Int, String, Bool) -> Void) throws -> Int {
    var count = 0
    for case .object(let group) in try SharedVectors.object(path).array("testGroups") {
      let keyObject = try group.optionalObject("public") ?? group.object("private")
      for case .object(let test) in try group.array("tests") {
        let accepted = Self.accepts(try test.string("jws"), keyObject)
        check(Int(try test.integer("tcId")), try test.string("result"), accepted)
        count += 1
      }
    }
    return count
  }

  /// Verifies with every algorithm allowed, so that only key and message decide.
  private static func accepts(_ compact: String, _ keyObject: JSONObject) -> Bool {
    let all = Set(SignatureAlgorithm.allCases)
    do {
      if keyObject.contains("keys") {
        let keys = VerificationKeySet(try JWKSet(keyObject))
        _ = try JWS(compact: compact).verified(with: keys, allowing: all)
      } else {
        _ = try JWS(compact: compact).verified(with: VerificationKey(JWK(keyObject)), allowing: all)
      }
      return true
    } catch {
      return false
    }
  }
}
