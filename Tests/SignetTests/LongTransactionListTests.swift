import Signet
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTesting
import SignetTestKit
import Testing

/// A party that may make transactions must not be able to prevent a user from reading them.
@Suite(.timeLimit(.minutes(10))) struct LongTransactionListTests {
  @Test("more maximum-length texts than a list holds are read and decided in two rounds")
  func isRead() async throws {
    let folder = try TemporaryFolder()
    let server = try await TestServer(
      directory: folder.path, protection: .device, derivation: .insecureForTests
    ).restarted {
      $0.challengeLimits = TransactionLimits(pending: 200, challenges: 200)
    }
    let user = UserID("alice")
    try await UserService(server.context).add(user, by: .local)
    let invitation = try await ActivationService(server.context).invite(user, lifetime: nil, by: .local)
    let vault = try Vault.forTests(folder.path + "/device")
    let device = Device(
      vault: vault,
      connection: ConnectionConfiguration(certificateAuthoritiesPEM: server.certificateAuthorityPEM))
    let container = try await device.createContainer(
      ContainerInitialization(code: invitation.code), handler: ScriptedActivation(reply: .abort))

    // JSON writes each of these bytes as two, so no text is longer.
    let frame = try TransactionContent(.text("x"), from: .relyingParty("Example Bank")).json.utf8.count - 1
    let longest = String(repeating: "\"", count: (TransactionContent.maximumByteCount - frame) / 2)
    let transactions = TransactionService(server.context)
    var made: Set<TransactionID> = []
    for _ in 0..<66 {
      made.insert(try await transactions.create(longest, user: user, lifetime: nil, by: .local).id)
    }
    let first = try await device.pendingTransactions(for: container)
    #expect(first.count == 64)
    #expect(first.allSatisfy { $0.text == longest })
    for transaction in first { try await device.decide(transaction, .denied, with: container) }
    let second = try await device.pendingTransactions(for: container)
    #expect(Set((first + second).map(\.id)) == made)
    await server.stop()
  }
}
