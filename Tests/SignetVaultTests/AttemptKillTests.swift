import Foundation
import SignetCrypto
import SignetPolicy
import SignetTestKit
import SignetVault
import Testing

/// Processes that open one domain with the right password as fast as they can, and are killed.
@Suite("Correct passwords while processes are killed", .timeLimit(.minutes(20)))
struct AttemptKillTests {
  private static let processes = 8
  /// 10,000 with `make kill-test`; a kill waits until each process may have succeeded since the last.
  private static let total = KillCount.wanted.map { 200 * $0 } ?? 100

  @Test(
    "8 processes, with one kill at most between two successes: none is refused, and nothing is locked",
    arguments: [VaultFixture.weak, .minimum])
  func survivesKills(_ cost: Argon2id) async throws {
    let fixture = try VaultFixture()
    let vault = try fixture.open(cost: .fixed(cost))
    let id = try await vault.addContainer(.sample(lock: .lock(limit: 5, atLimit: .wipe)))
    let log = fixture.folder.file("successes")
    try Data().write(to: URL(filePath: log))
    func successes() throws -> Int {
      try #require(try FileManager.default.attributesOfItem(atPath: log)[.size] as? Int)
    }
    let victim = ChildCommand([
      try Programs.built("VaultVictim"), fixture.directory, id.description, "keys", VaultFixture.password,
      log, "\(Self.total)",
    ])
    let crowd = ChildCrowd()
    var random = SeededRandom(test: "right passwords beside kills, \(cost.memoryKiB) KiB")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<Self.processes {
        group.addTask {
          // A process that ends without a kill is done, or its password was rejected.
          while try await crowd.run(victim).status == -SIGKILL {}
        }
      }
      while try successes() < Self.total, crowd.refusals.isEmpty {
        try await Task.sleep(for: .microseconds(Int.random(in: 0..<5_000, using: &random)))
        guard crowd.killOne(using: &random) else { continue }
        // Each of the next recorded successes of another process may be from before the kill.
        let before = try successes()
        while try successes() < min(before + Self.processes, Self.total), crowd.refusals.isEmpty {
          try await Task.sleep(for: .milliseconds(1))
        }
      }
      try await group.waitForAll()
    }
    print("\(try successes()) right passwords of \(cost.memoryKiB) KiB, \(crowd.deaths) kills")
    #expect(crowd.refusals == [])
    #expect(try successes() >= Self.total)
    #expect(crowd.deaths > 0)
    #expect(try await vault.domains(of: id).first?.status != .lockedOut)
    #expect(try await vault.signingKey(of: id) == "signing key")
  }
}
