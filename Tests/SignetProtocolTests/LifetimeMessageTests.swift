import SignetCrypto
import SignetProtocol
import Testing

/// Renewals and notices of an end: their signers, and their allowed contents.
@Suite struct LifetimeMessageTests {
  private let key = P256.Signing.PrivateKey()
  private let other = P256.Signing.PrivateKey()

  @Test func aRenewalIsSignedByThePresentKey() async throws {
    let core = try MessageSample.renewalCore(ProtocolVector.load()[1])
    let message = try await core.signed(for: key.publicKey, by: key.signature(for:))
    #expect(RenewalCore.isSigned(message, by: key.publicKey))
    #expect(!RenewalCore.isSigned(message, by: other.publicKey))
    #expect(try SignedMessage.unverifiedPayload(of: message) == core.bytes)
    // A signature for another type of message by the same key is no renewal.
    let notice = try await MessageSample.endNotice().signed(by: key.signature(for:))
    #expect(!RenewalCore.isSigned(notice, by: key.publicKey))
    for broken in ["", "a.b.c", message + "A", String(message.dropLast(4))] {
      #expect(!RenewalCore.isSigned(broken, by: key.publicKey))
    }
  }

  @Test func theKeyOfARenewalDependsOnSecretAndContainer() throws {
    let secrets = [SecretBytes(copying: [UInt8](repeating: 1, count: 32)).insecureCopy()]
    func derived(_ byte: UInt8, _ container: String) throws -> [UInt8] {
      ActivationSecrets.renewalKey(
        otpSecret: SecretBytes(copying: [UInt8](repeating: byte, count: 32)),
        container: try ContainerID(container)
      ).insecureCopy()
    }
    let found = try [derived(1, "c1"), derived(2, "c1"), derived(1, "c2")]
    #expect(Set(found + secrets).count == 4 && found.allSatisfy { $0.count == 32 })
    #expect(try derived(1, "c1") == found[0])
  }

  @Test func aRenewalIsProvedByThePresentSecret() throws {
    let own = P256.KeyAgreement.PrivateKey()
    let peer = P256.KeyAgreement.PrivateKey()
    func proof(_ key: UInt8, _ message: String, core: [UInt8] = [1]) throws -> [UInt8] {
      try ActivationSecrets(
        ownKey: own, peerKey: peer.publicKey,
        inviteKey: SecretBytes(copying: [UInt8](repeating: key, count: 32)),
        startTranscript: [UInt8](repeating: 2, count: 32), core: core
      ).renewalProof(of: message)
    }
    let found = try [proof(1, "a.b.c"), proof(2, "a.b.c"), proof(1, "a.b.d"), proof(1, "a.b.c", core: [2])]
    #expect(Set(found).count == 4 && found.allSatisfy { $0.count == 32 })
    #expect(try proof(1, "a.b.c") == found[0])
    let finish = RenewalFinish(handshake: "h", message: "a.b.c", proof: found[0], possession: "d.e.f")
    #expect(try RenewalFinish(parsing: finish.bytes).proof == found[0])
    for short in [[], [UInt8](repeating: 1, count: 31), [UInt8](repeating: 1, count: 33)] {
      #expect(throws: WireFailure.self) {
        try RenewalFinish(
          parsing: RenewalFinish(handshake: "h", message: "m", proof: short, possession: "p").bytes)
      }
    }
  }

  @Test func aNoticeIsSignedByTheContainersKey() async throws {
    let notice = try MessageSample.endNotice()
    let body = { (text: String) in Array(#"{"notice":"\#(text)"}"#.utf8) }
    let signed = try await SignedEndNotice(parsing: body(notice.signed(by: key.signature(for:))))
    #expect(signed.container == notice.container)
    #expect(signed.notice(verifiedWith: key.publicKey) == notice)
    #expect(signed.notice(verifiedWith: other.publicKey) == nil)
    let renewal = try await MessageSample.renewalCore(ProtocolVector.load()[1]).signed(
      for: key.publicKey, by: key.signature(for:))
    for broken in ["", "a.b.c", renewal] {
      #expect(throws: WireFailure.self) { try SignedEndNotice(parsing: body(broken)) }
    }
    #expect(throws: WireFailure.self) { try SignedEndNotice(parsing: Array("{}".utf8)) }
  }

  @Test func aReasonIsShortAndShowsWhatItIs() throws {
    let notice = try MessageSample.endNotice()
    func with(_ reason: String) throws -> EndNotice {
      try EndNotice(
        container: notice.container, server: notice.server, device: notice.device, event: .deleted,
        reason: reason, time: 1)
    }
    for good in ["", "lost", String(repeating: "é", count: 1000)] {
      #expect(try EndNotice(parsing: with(good).bytes).reason == good)
    }
    for bad in [String(repeating: "x", count: 1001), "two\nlines", "\u{1B}[2J", "\u{202E}reversed"] {
      #expect(throws: WireFailure.self) { try with(bad) }
    }
  }

  @Test func aListSaysWhetherARenewalIsWanted() throws {
    for isWanted in [true, false] {
      let list = TransactionList([], isRenewalRequested: isWanted)
      #expect(try TransactionList(parsing: list.bytes) == list)
    }
    #expect(throws: WireFailure.self) {
      try TransactionList(parsing: Array(#"{"transactions":[],"renew":1}"#.utf8))
    }
  }
}
