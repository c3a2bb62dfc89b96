import Foundation
import SignetJSON
import SignetTestKit
import Testing

/// `signet rename` and `signet trust`.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ContainerSettingCommandTests {
  @Test("a container is renamed")
  func rename() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"), "--name", "Old")
    #expect(try await device.json("rename", "Bank", "--container", "Old").string("name") == "Bank")
    let again = try await device.run("rename", "Savings", "--container", "Bank")
    #expect(again.status == 0 && again.output.contains("is called Savings."), again.summary)
    #expect(try await device.run("otp", "Savings").status == 0)
    #expect(
      try await device.run("rename", "x", "--container", "Bank").isRefusal(65, "no container is called"))
    await server.stop()
  }

  @Test("a container trusts newly set certificates and pins; invalid ones are refused")
  func trust() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"))
    let other = try await RunningServer.start()

    _ = try await device.json("trust", other.authority)
    let advice = "get ca.pem and the pin from the operator, then: signet trust ca.pem --pin PIN"
    let refused = try await device.run("pending")
    #expect(refused.isRefusal(76, "its issuer is not trusted; \(advice)"), refused.summary)
    // SIGNET_CA_FILE and --ca name the trusted authorities for a container without its own; the help says so.
    let named = try await device.run("pending", "--ca", server.authority)
    #expect(named.isRefusal(76, "its issuer is not trusted; \(advice)"), named.summary)
    let help = try await device.run("pending", "--help").output.split(whereSeparator: \.isWhitespace)
    #expect(
      help.joined(separator: " ").contains("if a container has none of its own; activate stores them"))
    #expect(
      try await device.run("trust").output.hasSuffix(
        "those that the system trusts.\nNo pin: any key of these authorities is accepted.\n"))
    #expect(try await device.run("pending").status == 0)

    let wrongPin = Array(repeating: "A", count: 43).joined()
    let pinned = try await device.run("trust", server.authority, "--pin", wrongPin)
    #expect(pinned.status == 0 && pinned.output.hasSuffix(".\nPins: \(wrongPin)\n"), pinned.summary)
    let unpinned = try await device.run("pending")
    #expect(unpinned.isRefusal(76, "or somebody intercepts the connection; \(advice)"), unpinned.summary)
    #expect(try await device.run("trust", "--pin", "!").isRefusal(65, "a pin is the base64url of 32 bytes"))
    #expect(
      try await device.run("trust", "--pin", "AAAA").isRefusal(65, "a pin is the base64url of 32 bytes"))
    #expect(try await device.run("trust", "--ca", server.authority).isRefusal(64, "signet trust FILE"))
    let key = "\(server.shopKey) has no certificate in PEM"
    #expect(try await device.run("trust", server.shopKey).isRefusal(65, key))
    #expect(try await device.run("pending", "--ca", server.shopKey).isRefusal(65, key))
    #expect(try await device.run("trust", "\(server.folder.path)/none").isRefusal(66, "cannot be read"))
    #expect(try await device.run("pending").status == 76)  // the rejected command changed nothing
    _ = try await device.json("trust", server.authority)
    #expect(try await device.run("pending").status == 0)
    await other.stop()
    await server.stop()
  }
}
