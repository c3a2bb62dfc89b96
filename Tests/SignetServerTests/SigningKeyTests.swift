import SignetCrypto
import SignetProtocol
import SignetServer
import SignetStorage
import Testing

/// The server's own signing keys.
@Suite(.timeLimit(.minutes(10))) struct SigningKeyTests {
  @Test("the first key is made once despite concurrent requests, and is stored sealed")
  func first() async throws {
    let server = try ServerFixture()
    let service = SigningKeyService(server.context)
    let keys = try await withThrowingTaskGroup(of: P256.Signing.PublicKey.self) { group in
      for _ in 0..<20 { group.addTask { try await service.currentPublicKey() } }
      var keys: [P256.Signing.PublicKey] = []
      for try await key in group { keys.append(key) }
      return keys
    }
    #expect(keys.allSatisfy { $0 == keys[0] })
    let record = try #require(try await server.storage.signingKeys().all.first)
    #expect(try await service.current().publicKey == keys[0] && record.id == keys[0].thumbprint)
    #expect(record.sealed.count == 32 + 28)
    #expect(throws: CryptoFailure.self) {
      _ = try server.context.masterKey.open(record.sealed, for: .signingKey(id: "other"))
    }
    #expect(try await server.audit().filter { $0.contains("signingKey.added") }.count == 1)
  }

  @Test("a device with an earlier key follows the successions to the current one")
  func rotates() async throws {
    let server = try ServerFixture()
    let device = try await server.activate()
    let known = try #require(device.serverKey)
    let service = SigningKeyService(server.context)
    #expect(try await service.currentPublicKey() == known)
    for _ in 0..<3 { _ = try await service.rotate(by: .local) }
    let present = try await service.currentPublicKey()
    let published = try await service.published()
    #expect(published.keys.count == 4 && published.keys.first == known && published.keys.last == present)
    let serverURL = server.context.settings.serverURL
    #expect(published.successor(of: known, called: present.thumbprint, at: serverURL) == present)
    let records = try await service.records().all
    #expect(records.map { $0.retired == nil } == [false, false, false, true])
    // The current key signs a list.
    let record = try await device.send(to: server)
    let id = [UInt8](repeating: 1, count: 16)
    let list = try #require(await server.transactions.waiting(for: record.id))
    let sealed = try await SealedTransactionList(
      decrypting: server.transactions.sealed(list, request: id), with: device.encryption)
    #expect(sealed.signer == present.thumbprint)
    #expect(try await server.activate(device: 2).serverKey == present)
  }
}
