import SignetStorage
import Testing

/// The server's current signing key, and its replacement.
@Suite struct SigningKeyRulesTests {
  private static func key(
    _ id: String, at time: Int64 = 1, retired: Int64? = nil, altered: Bool = false
  ) -> SigningKeyRecord {
    var key = SigningKeyRecord(id: id, sealed: [1], publicKey: [2], created: time, retired: retired)
    key.isAltered = altered
    return key
  }

  @Test(
    "a key replaces only its intended predecessor",
    arguments: [
      (nil, nil, .signs(after: nil)), (nil, "a", .superseded), (key("a"), nil, .superseded),
      (key("a"), "other", .superseded),
      (key("a"), "a", .signs(after: key("a", retired: 5))),
      (key("a", altered: true), "a", .signs(after: key("a", retired: 5, altered: true))),
    ] as [(SigningKeyRecord?, String?, SigningKeyRotation)])
  func rotation(_ present: SigningKeyRecord?, _ id: String?, _ rotation: SigningKeyRotation) {
    #expect(SigningKeyRotation(to: Self.key("new", at: 5), from: present, replacing: id) == rotation)
  }

  /// Stored keys, and the outcome: the signing key, the replaced one, and whether a row was removed or no key signs.
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let keys: [SigningKeyRecord]
    var isNew = false
    var present: String?
    var replaceable: String?
    var isRemoved = false
    var isMissing = false
  }

  @Test(
    "the newest key that is not retired signs; an altered or removed row is reported",
    arguments: [
      Case(testDescription: "a new server", keys: [], isNew: true),
      Case(testDescription: "all removed", keys: [], isRemoved: true, isMissing: true),
      Case(testDescription: "one", keys: [key("a")], present: "a", replaceable: "a"),
      Case(
        testDescription: "one after another", keys: [key("a", retired: 2), key("b")], present: "b",
        replaceable: "b"),
      Case(
        testDescription: "the present one altered", keys: [key("a", altered: true)], replaceable: "a",
        isMissing: true),
      Case(
        testDescription: "the present one altered, after another",
        keys: [key("a", retired: 2), key("b", altered: true)],
        replaceable: "b", isMissing: true),
      Case(
        testDescription: "an altered one before", keys: [key("a", retired: 2, altered: true), key("b")],
        present: "b",
        replaceable: "b"),
      Case(
        testDescription: "the present one removed", keys: [key("a", retired: 2)], isRemoved: true,
        isMissing: true),
      // It may have been the signing key, with a row that now says retired.
      Case(
        testDescription: "only an altered one", keys: [key("a", retired: 2, altered: true)], isMissing: true),
    ])
  func present(_ found: Case) {
    let keys = SigningKeyRecords(all: found.keys, isNew: found.isNew)
    #expect(keys.present?.id == found.present)
    #expect(keys.replaceable?.id == found.replaceable)
    #expect(keys.isPresentRemoved == found.isRemoved)
    #expect(keys.isPresentMissing == found.isMissing)
  }
}
