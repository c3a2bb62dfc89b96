import SignetServerTesting
import SignetStorage
import Testing

/// The revocation of clients.
@Suite struct ClientRevocationRulesTests {
  private static func client(revoked: Int64? = nil, altered: Bool = false) -> ClientRecord {
    var client = ClientRecord(
      id: "client", name: "Shop", authentication: .clientSecretBasic, delivery: .ping, created: 1)
    (client.revoked, client.isAltered) = (revoked, altered)
    return client
  }

  @Test("a client is revoked at the time of the first revocation, also with an altered row")
  func revoked() {
    #expect(Self.client().revoking(at: 5) == Self.client(revoked: 5))
    for before in [4, 5, 6] as [Int64] {
      #expect(Self.client(revoked: before).revoking(at: 5) == Self.client(revoked: before))
    }
    #expect(Self.client(altered: true).revoking(at: 5) == Self.client(revoked: 5, altered: true))
  }
}
