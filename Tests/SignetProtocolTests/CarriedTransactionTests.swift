import SignetCrypto
import SignetJSON
import SignetProtocol
import Testing

/// Transactions that are scanned, and answers that are typed back (`docs/protocol.md` sections 5.7 and 5.9).
@Suite struct CarriedTransactionTests {
  @Test("a link has one canonical form")
  func links() throws {
    for server in ["signet.example.com/main", "[2001:db8::1]:8443/d", "127.0.0.1:8443/staff_1"] {
      let link = TransactionLink(try TransactionID("t_1-x"), at: try ServerURL(server))
      #expect(link.text == "signet:transaction?id=t_1-x&url=\(server)")
      #expect(try TransactionLink(parsing: link.text) == link)
    }
    for bad in [
      "", "signet:", "signet:transaction?id=t1", "signet:transaction?id=&url=a.example/d",
      "signet:transaction?url=a.example/d&id=t1", "SIGNET:transaction?id=t1&url=a.example/d",
      "signet:transaction?id=t1&url=https://a.example/d", "signet:transaction?id=t1&url=A.example/d",
      "signet:transaction?id=t1&url=a.example:443/d", "signet:transaction?id=t1&url=http://a.example/d",
      "signet:transaction?id=t%31&url=a.example/d", "signet:transaction?id=t1&url=a.example/d ",
      "signet:transaction?id=t1&url=a.example/d&x=1",
      "signet:transaction?id=" + String(repeating: "a", count: 600) + "&url=a.example/d",
    ] {
      #expect(throws: WireFailure.self, "\(bad.prefix(60))") { try TransactionLink(parsing: bad) }
    }
  }

  @Test(
    "an offline transaction is signed by the server, and its answer is the documented one",
    arguments: try ProtocolVector.load())
  func offline(_ vector: ProtocolVector) throws {
    let text = try vector.text("offline")
    let key = try vector.signingKey("serverSigningPrivateKey").publicKey
    let transaction = try OfflineTransaction(verifying: text, signedBy: key)
    #expect(try transaction.bytes == vector.utf8("offlinePayload"))
    let claimed = try OfflineTransaction.claimed(by: text)
    #expect(claimed.server == transaction.server && claimed.user == transaction.user)
    let made = OfflineTransaction(
      id: transaction.id, content: transaction.content, expires: transaction.expires,
      server: transaction.server, user: transaction.user)
    #expect(made.bytes == transaction.bytes)
    let secret = try vector.secret("otpSecret")
    let decision = try #require(
      Decision(verifying: vector.text("decision"), signedBy: vector.signingKey("signingPrivateKey").publicKey)
    )
    #expect(
      try transaction.answer(otpSecret: secret, container: decision.container)
        == vector.text("offlineAnswer"))
    #expect(
      try transaction.answer(otpSecret: secret, container: ContainerID("other"))
        != vector.text("offlineAnswer"))
    #expect(throws: WireFailure.notAuthentic) {
      try OfflineTransaction(verifying: text, signedBy: P256.Signing.PrivateKey().publicKey)
    }
    let characters = Array(text.utf8)
    for index in characters.indices {
      var changed = characters
      changed[index] ^= 1
      #expect(throws: WireFailure.self, "character \(index)") {
        try OfflineTransaction(verifying: String(decoding: changed, as: UTF8.self), signedBy: key)
      }
    }
    for bad in ["", "a.b.c", try vector.text("decision")] {
      #expect(throws: WireFailure.notAuthentic) { try OfflineTransaction(verifying: bad, signedBy: key) }
    }
  }
}
