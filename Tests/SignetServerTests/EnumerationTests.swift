import SignetCrypto
import SignetPolicy
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTestKit
import Testing

@Suite("User enumeration at the start of an activation")
struct EnumerationTests {
  private let folder: TemporaryFolder
  private let context: ServiceContext
  private let activations: ActivationService

  init() throws {
    folder = try TemporaryFolder()
    let settings = ServicePolicy(
      serverURL: try ServerURL("id.example.org/bank"), pins: [],
      profile: ContainerProfile(protection: .device, totp: .standard))
    context = ServiceContext(
      settings: settings, storage: try Storage(.file("\(folder.path)/signet.sqlite")),
      masterKey: MasterKey(.random(byteCount: MasterKey.byteCount)), log: EventLog { _ in })
    activations = ActivationService(context)
  }

  private func answer(for user: UserID) async throws -> StartAnswer<ActivationOffer> {
    try await activations.start(ActivationStart(user: user, random: SystemRandomSource()).bytes)
  }

  @Test("the answer has one length, whether there is a user, an open invite, or neither")
  func oneLength() async throws {
    let (invited, known, unknown) = (UserID("alice"), UserID("bobby"), UserID("carol"))
    try await UserService(context).add(invited, by: .local)
    try await UserService(context).add(known, by: .local)
    _ = try await activations.invite(invited, lifetime: nil, by: .local)
    var lengths: Set<[Int]> = []
    for user in [invited, known, unknown] {
      let answer = try await answer(for: user)
      lengths.insert([answer.handshake.utf8.count, answer.offer.bytes.count])
    }
    #expect(lengths.count == 1)
    await context.storage.close()
  }

  @Test("the salt of a user never changes, so it does not tell when an invite is made or used")
  func oneSalt() async throws {
    let (alice, bobby) = (UserID("alice"), UserID("bobby"))
    let before = try await answer(for: alice).offer.salt
    try await UserService(context).add(alice, by: .local)
    for _ in 0..<2 {
      _ = try await activations.invite(alice, lifetime: nil, by: .local)
      #expect(try await answer(for: alice).offer.salt == before)
    }
    #expect(try await answer(for: bobby).offer.salt != before)
    await context.storage.close()
  }
}
