import Foundation
import Signet
import SignetCrypto
import SignetJSON
import SignetTestKit
import Testing

/// Killing the process that counts an attempt never restores it.
@Suite(.serialized, .timeLimit(KillRounds.timeLimit)) struct KilledAttemptTests {
  @Test func ofAPassword() async throws {
    let server = try await RunningServer.startWithShop(["--attempts", "100"])
    let device = server.device()
    _ = try await device.json(
      "activate", "--code-file", server.codeFile("alice"), passwords: ["winter-garden"])
    var bench = KillBench(server, SeededRandom(test: "killed password attempts"))
    func wrong() throws -> ChildCommand { try device.process(["otp"], passwords: ["summer-garden"]) }
    var left = try remaining(await bench.measure("otp", wrong()))
    #expect(left == 99)
    for _ in 0..<KillRounds.count {
      let killed = try await bench.run("otp", .device, wrong())
      #expect([77, -SIGKILL].contains(killed.status), killed.summary)
      let now = try remaining(await wrong().finish())
      // The attempt that ended counts, and the killed one may count.
      #expect((left - 2...left - 1).contains(now), "\(left), then \(now): \(bench.step)")
      if killed.status == 77 { #expect(now == left - 2, bench.comment) }
      left = now
      guard left < 3 else { continue }
      // The right password restores all attempts.
      #expect(try await device.json("otp", passwords: ["winter-garden"]).string("code").count == 6)
      left = 100
    }
    try KillBench.checkDatabase("\(device.data)/vault.sqlite", bench.comment)
    #expect(try await device.json("otp", passwords: ["winter-garden"]).string("code").count == 6)
    await bench.server.stop()
  }

  private func remaining(_ result: ServerCommand.Result) throws -> Int {
    try #require(result.status == 77, result.summary)
    let words = result.errorOutput.split { !$0.isNumber }
    return try #require(words.last.flatMap { Int($0) }, result.summary)
  }

  @Test func ofAnInvite() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    try await server.addUser("alice")
    let right = try await server.invite("alice")
    var wrong = right
    wrong.invite = InviteCode(random: SystemRandomSource())
    let file = try server.write(wrong.text, to: "wrong")
    var bench = KillBench(server, SeededRandom(test: "killed invite attempts"))
    func attempt() throws -> ChildCommand {
      try bench.server.device("thief").process(["activate", "--code-file", file])
    }
    // The server rejects five times, with kills in between; then the right code comes too late. A server that dies in a TLS
    // handshake causes the same exit code but has not rejected anything.
    func isRefused(_ result: ServerCommand.Result) -> Bool {
      result.isRefusal(76, "the server refused the activation")
    }
    var refusals = try await isRefused(bench.measure("activate", attempt())) ? 1 : 0
    #expect(refusals == 1)
    for _ in 0..<60 where refusals < 5 {
      if try await isRefused(bench.run("activate", .server, attempt())) { refusals += 1 }
      if refusals < 5, try await isRefused(attempt().finish()) { refusals += 1 }
    }
    #expect(refusals == 5)
    let late = try await bench.server.device().run(
      "activate", "--code-file", bench.server.write(right.text, to: "right"))
    #expect(isRefused(late), "\(late.summary), after \(bench.history)")
    #expect(try await bench.server.activeContainers("alice").isEmpty)
    // Each rejection logs the remaining attempts, and they never increase.
    let left = try await bench.server.audited("activation.refused").compactMap {
      try $0.optionalString("remaining").flatMap { Int($0) }
    }
    #expect(left == Array((5 - left.count..<5).reversed()) && left.count <= 5, "\(left)")
    await bench.server.stop()
  }
}
