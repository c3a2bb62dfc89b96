import SignetCrypto
import SignetJSON
import SignetProtocol
import Testing

/// Rejection of long runs of combining marks, which would be a denial of service.
///
/// Swift compares texts by their normal form, which takes time quadratic in the length of such a run. A text of 40 KB from any
/// sender would block a thread for half a second.
@Suite("Limits on combining marks")
struct CombiningMarksTests {
  private static func marks(_ count: Int) -> String {
    String(repeating: "\u{301}\u{323}", count: count / 2)
  }

  private static func core(
    _ change: (inout JSONObject) -> Void, inDevice changeDevice: (inout JSONObject) -> Void = { _ in }
  ) throws -> [UInt8] {
    let keys = ContainerKeys(
      session: P256.Signing.PrivateKey().publicKey, encryption: P256.KeyAgreement.PrivateKey().publicKey,
      signing: P256.Signing.PrivateKey().publicKey)
    let description = try DeviceDescription(
      id: [UInt8](repeating: 1, count: 16), name: "", platform: "linux", keystore: .software)
    let core = ActivationCore(
      user: try UserID("alice"), server: try ServerURL("id.example.org/bank"),
      agreement: P256.KeyAgreement.PrivateKey().publicKey, keys: keys, device: description)
    var object = try JSONObject(parsing: core.bytes)
    change(&object)
    var device = description.json
    changeDevice(&device)
    object["device"] = .object(device)
    return JSONValue.object(object).bytes
  }

  // Each takes a millisecond; without the limit, more than the minute.
  @Test("in a device's description of itself", .timeLimit(.minutes(1)))
  func core() throws {
    let keystore = try Self.core({ _ in }, inDevice: { $0["keystore"] = .string(Self.marks(20_000)) })
    let keyType = try Self.core({ $0["agreement"] = ["kty": .string(Self.marks(20_000)), "crv": "P-256"] })
    for _ in 0..<100 {
      #expect(throws: WireFailure.self) { try ActivationCore(parsing: keystore) }
      #expect(throws: WireFailure.self) { try ActivationCore(parsing: keyType) }
    }
  }

  @Test("in member names of any received object", .timeLimit(.minutes(1)))
  func names() throws {
    // Sorting two classes of marks is what takes the time.
    let name = "a" + String(repeating: "\u{301}", count: 16_000) + String(repeating: "\u{316}", count: 15_000)
    var text = "{\"\(name)\":1"
    for number in 0..<14 { text += ",\"a\(number)\":\(number)" }
    let bytes = Array((text + "}").utf8)
    for _ in 0..<20 {
      let object = try JSONObject(parsing: bytes)
      #expect(object["b"] == nil && !object.contains("c") && object == object)
      #expect(throws: WireFailure.self) { try ActivationCore(parsing: bytes) }
      _ = object.hashValue
    }
    let problem: JSONObject = ["type": .string("urn:signet:problem:" + name)]
    for _ in 0..<20 { #expect(Problem(parsing: JSONValue.object(problem).bytes) == nil) }
  }

  @Test("in the algorithm of a proof", .timeLimit(.minutes(1)))
  func algorithm() {
    let header: JSONObject = ["alg": .string(Self.marks(8_000)), "typ": "signet-activation"]
    let message = Base64URL.encode(JSONValue.object(header).bytes) + ".e30.AA"
    let key = SecretBytes.random(byteCount: 32)
    for _ in 0..<2_000 {
      #expect(SignedMessage.verify(message, key: key, type: SignedMessage.activationType) == nil)
    }
  }
}
