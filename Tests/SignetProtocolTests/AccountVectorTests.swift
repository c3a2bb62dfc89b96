import SignetCrypto
import SignetJOSE
import SignetJSON
import SignetPolicy
import SignetProtocol
import Testing

/// Values that independent code computed from section 14, which ours must write and accept.
@Suite struct AccountVectorTests {
  private func address(_ vector: ProtocolVector) throws -> ListAddress {
    ListAddress(
      server: try ServerURL(vector.text("server")), container: try ContainerID(vector.text("container")),
      request: try Base64URL.decode(vector.text("request")))
  }

  private func payload(_ jws: String) throws -> [UInt8] {
    try JWS(compact: jws, maximumByteCount: 65_536).unverifiedPayload
  }

  @Test("a condition", arguments: try ProtocolVector.load("account"))
  func aCondition(_ vector: ProtocolVector) throws {
    let key = try vector.signingKey("serverSigningPrivateKey")
    let address = try address(vector)
    let signed = try SignedDeviceStatus(vector.text("conditionJWS"))
    #expect(signed.signer == key.publicKey.thumbprint)
    let condition = try signed.condition(signedBy: key.publicKey, for: address)
    #expect(condition.revision == 7)
    #expect(try condition.challenge == Base64URL.decode(vector.text("challenge")))
    #expect(try payload(condition.signed(for: address, by: key)) == vector.utf8("condition"))
    let session = try vector.signingKey("sessionPrivateKey").publicKey
    #expect(throws: WireFailure.notAuthentic) { try signed.condition(signedBy: session, for: address) }
  }

  @Test("a report", arguments: try ProtocolVector.load("account"))
  func aReport(_ vector: ProtocolVector) async throws {
    let key = try vector.signingKey("sessionPrivateKey")
    let report = try #require(PostureReport.verified(vector.text("reportJWS"), with: key.publicKey))
    #expect(try report.device == Base64URL.decode(vector.text("device")))
    #expect(report.time == 1_795_231_234 && report.revision == 6)
    let jws = try await report.signed { try key.signature(for: $0) }
    #expect(try payload(jws) == vector.utf8("report"))
    let other = try vector.signingKey("serverSigningPrivateKey").publicKey
    #expect(try PostureReport.verified(vector.text("reportJWS"), with: other) == nil)
  }

  @Test("receipts for orders", arguments: try ProtocolVector.load("account"))
  func receipts(_ vector: ProtocolVector) async throws {
    let key = try vector.signingKey("sessionPrivateKey")
    for (jws, expected) in zip(try vector.texts("receiptJWS"), try vector.texts("receipts")) {
      let signed = try SignedCommandAcknowledgement(
        parsing: JSONObject(dictionaryLiteral: ("receipt", .string(jws))).bytes)
      #expect(try signed.container.text == vector.text("container"))
      let receipt = try #require(signed.receipt(verifiedWith: key.publicKey))
      let again = try await receipt.signed { try key.signature(for: $0) }
      #expect(try payload(again) == Array(expected.utf8))
    }
  }
}
