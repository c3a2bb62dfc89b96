#if os(Linux)
  import Foundation
  import SignetCrypto
  import SignetTPM
  import SignetTesting
  import SignetVault
  import Synchronization
  import Testing

  @Suite(
    "NV indices of a TPM", .timeLimit(.minutes(10)), .enabled(if: SimulatedTPM.isExpected, "needs swtpm"))
  struct NVIndexTests {
    private let fixture: TPMFixture
    private let keystore: TPMKeystore

    init() throws {
      fixture = try TPMFixture()
      keystore = fixture.keystore
    }

    private func limited(_ limit: Int = 3) throws -> [UInt8] {
      try keystore.seal(
        SecretBytes("secret"), context: [1], authorization: SecretBytes("1234"), limit: limit)
    }

    @Test("a hundred operations in a row, right and wrong, leave no key and no session loaded")
    func hundred() throws {
      let sealed = try keystore.seal(SecretBytes("secret"), context: [1])
      let key = try keystore.makeSigningKey(authorization: SecretBytes(copying: [1]))
      let digest = [UInt8](repeating: 7, count: 32)
      let blob = try limited(100)
      let counter = try keystore.makeCounter()
      for round in 0..<10 {
        _ = try keystore.seal(SecretBytes("secret"), context: [1])
        _ = try keystore.unseal(sealed, context: [1])
        #expect(throws: KeystoreFailure.refused) { _ = try keystore.unseal(sealed, context: [2]) }
        #expect(throws: KeystoreFailure.refused) { _ = try keystore.unseal(key.blob, context: [1]) }
        _ = try keystore.signature(ofDigest: digest, with: key.blob, authorization: SecretBytes(copying: [1]))
        #expect(throws: KeystoreFailure.refused) {
          try keystore.signature(ofDigest: digest, with: key.blob, authorization: SecretBytes(copying: [2]))
        }
        #expect(try keystore.guess("0", blob) == .wrong(99 - round % 5))
        if round % 5 == 4 { #expect(try keystore.guess("1234", blob) == .opened(Array("secret".utf8))) }
        _ = try keystore.guessesLeft(blob)
        try keystore.advanceCounter(counter)
        _ = try keystore.status()
        #expect(try fixture.loadedHandleCount() == 0, "after round \(round)")
      }
    }

    @Test("indices left by killed programs are reclaimed when none is free")
    func leftovers() throws {
      let sealed = try keystore.seal(SecretBytes("secret"), context: [1])
      for _ in 0..<4 {
        // The link breaks at the last command, so loaded objects are not flushed.
        let address = keystore.address
        let breaking = TPMKeystore(address, limits: TPMFixture.patient) { () throws(KeystoreFailure) in
          BreakingLink(try TPMKeystore.link(to: address), at: CommandCode.unseal)
        }
        #expect(throws: KeystoreFailure.disconnected) { _ = try breaking.unseal(sealed, context: [1]) }
      }
      #expect(try fixture.loadedHandleCount() > 0)
      #expect(try keystore.unseal(sealed, context: [1]).byteCount == 6)
    }

    @Test("discarding releases the index once and makes every copy of the blob useless")
    func discard() throws {
      #expect(try keystore.status().reservedLocationCount == 0)
      let blob = try limited()
      let counter = try keystore.makeCounter()
      #expect(try keystore.status().reservedLocationCount == 2)
      try keystore.discard(blob)
      try keystore.discard(blob)
      #expect(try keystore.status().reservedLocationCount == 1)
      #expect(throws: KeystoreFailure.countGone) { try keystore.guess("1234", blob) }
      #expect(throws: KeystoreFailure.countGone) { try keystore.guessesLeft(blob) }
      try keystore.discard(counter)
      #expect(throws: KeystoreFailure.countGone) { try keystore.counterValue(counter) }
      #expect(try keystore.status().reservedLocationCount == 0)
      let sealed = try keystore.seal(SecretBytes("secret"), context: [1])
      try keystore.discard(sealed)
      try keystore.discard([])
      #expect(try keystore.unseal(sealed, context: [1]).byteCount == 6)
      #expect(try fixture.loadedHandleCount() == 0)
    }

    @Test(
      "an index recreated at the same handle is neither mistaken for the old one nor deleted in its place")
    func sameHandle() throws {
      let old = try limited()
      guard case .guessLimited(_, let plan, _) = TPMBlob(old) else {
        Issue.record("no guess-limited blob")
        return
      }
      try keystore.discard(old)
      let successor = IndexPlan(
        handle: plan.handle, role: .guesses, salt: [UInt8](repeating: 1, count: 32))
      try keystore.converse { conversation throws(TPMFailure) in
        let parent = try conversation.parent()
        try conversation.define(successor, value: SharedSecretBox(SecretBytes("x")), saltedFor: parent)
        try conversation.writeLimit(3, to: successor, saltedFor: parent)
      }
      #expect(throws: KeystoreFailure.countGone) { try keystore.guess("1234", old) }
      try keystore.discard(old)
      #expect(try keystore.status().reservedLocationCount == 1)
    }

    @Test("a seal that fails half way releases its index")
    func halfWay() throws {
      let script = DisturbedLink.Script(instead: { command in
        CommandCode.of(command) == CommandCode.create ? CommandCode.answer(0x101) : nil
      })
      let failing = try TPMKeystore.disturbed(fixture.tpm.address, script)
      #expect(throws: KeystoreFailure.self) {
        _ = try failing.seal(
          SecretBytes("secret"), context: [1], authorization: SecretBytes("1234"), limit: 3)
      }
      #expect(try keystore.status().reservedLocationCount == 0)
      #expect(try fixture.loadedHandleCount() == 0)
    }

    @Test("a full TPM is an error, and works again after an index is released")
    func full() throws {
      var blobs: [[UInt8]] = []
      var failure: KeystoreFailure?
      while failure == nil, blobs.count <= IndexPlan.handles.count {
        do throws(KeystoreFailure) { blobs.append(try keystore.makeCounter()) } catch { failure = error }
      }
      #expect(failure == .full)
      #expect(failure?.remedy == .change)
      #expect(Set(blobs).count == blobs.count)
      #expect(try keystore.status().reservedLocationCount == blobs.count)
      try keystore.discard(try #require(blobs.first))
      _ = try keystore.makeCounter()
    }

    @Test("concurrent creators of counters get one each")
    func racingDefinitions() async throws {
      let address = keystore.address
      let blobs = try await withThrowingTaskGroup(of: [UInt8].self) { group in
        for _ in 0..<12 {
          group.addTask { try TPMKeystore(address, limits: TPMFixture.patient).makeCounter() }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(Set(blobs.compactMap { TPMBlob($0)?.index?.handle }).count == 12)
    }

    @Test("the persistent storage key is used, and earlier sealed secrets still open")
    func keptStorageKey() throws {
      let sealed = try keystore.seal(SecretBytes("secret"), context: [1])
      do {
        let link = try TPMKeystore.link(to: keystore.address)
        let conversation = try Conversation(link)
        _ = try conversation.parent()
        // TPM2_EvictControl by the owner: makes the first loaded key persistent at 0x81000001.
        try link.send([
          0x80, 0x02, 0, 0, 0, 35, 0, 0, 0x01, 0x20, 0x40, 0, 0, 1, 0x80, 0, 0, 0, 0, 0, 0, 9, 0x40, 0, 0, 9,
          0, 0,
          0, 0, 0, 0x81, 0, 0, 1,
        ])
        #expect(try TPMFixture.code(of: link.receive()) == 0)
      }
      let createPrimary: UInt32 = 0x131
      let script = DisturbedLink.Script()
      #expect(
        try TPMKeystore.disturbed(fixture.tpm.address, script).unseal(sealed, context: [1]).byteCount == 6)
      #expect(!script.heard.withLock { $0.contains { CommandCode.of($0) == createPrimary } })
      #expect(try fixture.loadedHandleCount() == 0)
    }
  }

  /// A link that breaks when a certain command is to be sent.
  private final class BreakingLink: TPMLink {
    private let real: any TPMLink
    private let command: UInt32
    private var isBroken = false

    init(_ real: any TPMLink, at command: UInt32) { (self.real, self.command) = (real, command) }

    func send(_ bytes: [UInt8]) throws(KeystoreFailure) {
      if CommandCode.of(bytes) == command { isBroken = true }
      if isBroken { throw .disconnected }
      try real.send(bytes)
    }

    func receive() throws(KeystoreFailure) -> [UInt8] {
      if isBroken { throw .disconnected }
      return try real.receive()
    }
  }
#endif
