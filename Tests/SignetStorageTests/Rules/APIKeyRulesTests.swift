import SignetServerTesting
import SignetStorage
import Testing

/// The use and the revocation of API keys.
@Suite struct APIKeyRulesTests {
  private static func key(
    _ id: ID<APIKeyRecord>, _ scopes: [String] = ["admin"], revoked: Int64? = nil, altered: Bool = false
  ) -> APIKeyRecord {
    var key = APIKeyRecord(id: id, name: "", scopes: scopes, secretDigest: [], created: 1, revoked: revoked)
    key.isAltered = altered
    return key
  }

  @Test("a key is valid until it is revoked or its row is altered")
  func good() {
    #expect(Self.key("a").isValid)
    #expect(!Self.key("a", revoked: 1).isValid)
    #expect(!Self.key("a", altered: true).isValid)
  }

  private static func revoking(
    _ id: ID<APIKeyRecord>, among keys: [APIKeyRecord]
  ) -> RecordChange<APIKeyRecord, RevocationOutcome> {
    APIKeyRecord.revoking(id, among: keys, keepingOneOf: "admin", at: 5)
  }

  @Test(
    "the last valid key of a scope cannot be revoked",
    arguments: [[], [key("b", revoked: 2)], [key("b", altered: true)], [key("b", ["other"])]])
  func last(_ others: [APIKeyRecord]) {
    #expect(Self.revoking("a", among: [Self.key("a")] + others) == .refused(.last))
  }

  @Test("another key is revoked, at the time of the first revocation")
  func revoked() {
    let keys = [Self.key("a"), Self.key("b"), Self.key("c", ["other"]), Self.key("d", revoked: 2)]
    #expect(Self.revoking("a", among: keys) == .made(Self.key("a", revoked: 5)))
    #expect(Self.revoking("c", among: keys) == .made(Self.key("c", ["other"], revoked: 5)))
    #expect(Self.revoking("d", among: keys) == .made(Self.key("d", revoked: 2)))
    #expect(Self.revoking("x", among: keys) == .refused(.unknown))
    // KELVIN SIGN equals K as a string.
    #expect(
      Self.revoking("\u{212A}", among: [Self.key("a"), Self.key("b"), Self.key("K")]) == .refused(.unknown))
  }

  @Test("a key with an altered row can be revoked, also if one valid key is left")
  func altered() {
    let keys = [Self.key("a"), Self.key("b", altered: true)]
    #expect(Self.revoking("b", among: keys) == .made(Self.key("b", revoked: 5, altered: true)))
  }
}
