import Foundation
import SignetJSON
import SignetTesting
import Testing

/// `signet password` and `signet recovery` through the command line.
@Suite(.serialized, .timeLimit(.minutes(3))) struct PasswordChangeCommandTests {
  private let first = "winter-garden-42"
  private let second = "summer-garden-42"

  private func activated(_ options: String...) async throws -> (RunningServer, DeviceCommand) {
    let server = try await RunningServer.startWithShop(
      ["--minimum-length", "8", "--maximum-length", "20", "--attempts", "3"] + options)
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"), passwords: [first])
    return (server, device)
  }

  @Test func changesAndVerifies() async throws {
    let (server, device) = try await activated()
    #expect(try await device.json("password", "verify", passwords: [first]).bool("right"))
    let wrong = try await device.run("password", "change", passwords: ["wrong-garden-42", second])
    #expect(wrong.isRefusal(77, "2 tries are left"), wrong.summary)
    let short = try await device.run("password", "change", passwords: [first, "short"])
    #expect(short.isRefusal(65, "at least 8 characters"), short.summary)
    #expect(try await device.json("password", "change", passwords: [first, second]).bool("changed"))
    let old = try await device.run("password", "verify", passwords: [first])
    #expect(old.isRefusal(77, "2 tries are left"), old.summary)
    #expect(try await server.accepts(device.json("otp", passwords: [second]).string("code"), of: "alice"))
    await server.stopAndWait()
  }

  @Test func recoversFromALock() async throws {
    let (server, device) = try await activated()
    let code = try await device.json("recovery", "create", passwords: [first]).string("code")
    #expect(code.split(separator: "-").count == 7)
    for _ in 0..<3 { _ = try await device.run("otp", passwords: ["wrong-garden-42"]) }
    let locked = try await device.run("otp", passwords: [first])
    #expect(locked.isRefusal(77, "locked"), locked.summary)
    let typo = String(code.dropLast()) + (code.hasSuffix("7") ? "8" : "7")
    let mistyped = try await device.run("recovery", "reset", passwords: [typo, second])
    #expect(mistyped.isRefusal(65, "typing error"), mistyped.summary)
    #expect(!mistyped.errorOutput.contains(code.prefix(4)))
    _ = try await device.json("recovery", "reset", passwords: [code.lowercased(), second])
    #expect(try await server.accepts(device.json("otp", passwords: [second]).string("code"), of: "alice"))
    await server.stopAndWait()
  }

  @Test func aContainerWithoutAPassword() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"))
    for words in [
      ["password", "change"], ["password", "verify"], ["recovery", "create"], ["recovery", "reset"],
    ] {
      let result = try await device.run(words)
      #expect(result.isRefusal(65, "has no password"), result.summary)
    }
    await server.stopAndWait()
  }
}
