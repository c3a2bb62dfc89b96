import Foundation
import SignetJSON
import SignetProtocol
import SignetTestKit
import Testing

/// A device lock applies to everything on the device, with the real commands: its container and its UAF keys.
@Suite(.serialized, .timeLimit(.minutes(10))) struct DeviceLockCommandTests {
  private static let password = "winter-garden-42"
  private static let pin = "271828"

  private static func login(_ device: InstalledSignet, _ party: UAFParty) async throws -> ServerCommand.Result
  {
    try await device.run(["uaf", "authenticate", "alice", "-a", "pin"] + party.words, passwords: [pin])
  }

  private static func register(
    _ device: InstalledSignet, _ party: UAFParty
  ) async throws -> ServerCommand.Result {
    try await device.run(
      [
        "uaf", "register", "alice", "-a", "pin", "--device-name", "laptop", "--token-fd", "0",
      ] + party.words, passwords: [party.key, pin])
  }

  private static func devices(_ party: UAFParty) async throws -> [JSONObject] {
    try await party.server.json("device", "list", "alice").array("devices").compactMap { value in
      guard case .object(let device) = value else { return nil }
      return device
    }
  }

  private static func events(_ party: UAFParty, _ name: String) async throws -> [JSONObject] {
    try await party.server.audited(name)
  }

  @Test("a container's lock refuses UAF logins of its device; its revocation revokes the keys")
  func container() async throws {
    let party = try await UAFParty.start()
    let device = party.device()
    let code = try party.server.write(await party.server.invite("alice").text, to: "alice.code")
    _ = try await device.json("activate", "--code-file", code, passwords: [Self.password])
    let id = try #require(try await party.server.activeContainers("alice").first)
    let registered = try await Self.register(device, party)
    try #require(registered.status == 0, registered.summary)
    #expect(try await Self.login(device, party).status == 0)
    let found = try await Self.devices(party)
    #expect(found.count == 1, "\(found)")
    let installation = try await device.json("uaf", "device", "show").string("deviceId")
    #expect(try found.first?.string("installation") == installation)

    _ = try await party.server.json("container", "lock", id, "--reason", "reported lost")
    let refused = try await Self.login(device, party)
    #expect(refused.isRefusal(77, "1403"), refused.summary)
    #expect(try await Self.devices(party).first?.string("standing") == "locked")
    let reasons = try await Self.events(party, "uaf.refused").map { try $0.string("reason") }
    #expect(reasons == ["The device is locked; an operator can unlock it."])
    _ = try await party.server.json("container", "unlock", id)
    let accepted = try await Self.login(device, party)
    #expect(accepted.status == 0, accepted.summary)

    _ = try await party.server.json("container", "revoke", id)
    let ended = try await Self.login(device, party)
    #expect(ended.isRefusal(76, "1404") && ended.errorOutput.contains("register again"), ended.summary)
    let keys = try await party.server.json("uaf", "credentials", "--user", "alice").array("credentials")
    guard case .object(let key)? = keys.first else { throw JSONFailure.missingMember("credentials") }
    #expect(try keys.count == 1 && key.string("state") == "revoked")
    #expect(try await Self.events(party, "uaf.revoked").count == 1)
    #expect(try await party.server.json("audit", "verify")["intact"] == true)
    await party.server.stop()
  }

  @Test("a device with only UAF keys can be locked, unlocked and revoked")
  func uafAlone() async throws {
    let party = try await UAFParty.start()
    let (device, other) = (party.device(), party.device("tablet"))
    for (one, name) in [(device, "laptop"), (other, "tablet")] {
      let link = try await party.link("registration", ["username": "alice"])
      let made = try await one.run(
        ["uaf", "oob", "run", link, "-a", "pin", "--device-name", name] + party.words, passwords: [Self.pin])
      try #require(made.status == 0, made.summary)
    }
    let found = try await Self.devices(party)
    #expect(try found.map { try $0.string("name") }.sorted() == ["laptop", "tablet"])
    let id = try #require(try found.first { try $0.string("name") == "laptop" }).string("id")
    let locked = try await party.server.run("device", "lock", id, "--reason", "left in a train")
    #expect(locked.status == 0 && locked.output.contains("locked \(id) of user alice"), locked.summary)
    let refused = try await Self.login(device, party)
    #expect(refused.isRefusal(77, "1403"), refused.summary)
    #expect(try await Self.login(other, party).status == 0)
    let listed = try await party.server.run("device", "list", "alice")
    #expect(listed.output.contains("left in a train"), listed.summary)
    let unlocked = try await party.server.run("device", "unlock", id)
    #expect(unlocked.status == 0, unlocked.summary)
    #expect(try await Self.login(device, party).status == 0)

    let revoked = try await party.server.run("device", "revoke", id)
    #expect(revoked.status == 0 && revoked.output.contains("revoked \(id)"), revoked.summary)
    let ended = try await Self.login(device, party)
    #expect(ended.status != 0, ended.summary)
    #expect(try await Self.login(other, party).status == 0)
    let unknown = try await party.server.run("device", "lock", "nothing")
    #expect(unknown.isRefusal(67, "no such device"), unknown.summary)
    for event in ["device.locked", "device.unlocked", "device.revoked"] {
      #expect(try await Self.events(party, event).count == 1, "\(event)")
    }
    await party.server.stop()
  }

  @Test("a device lock reaches its container, which sends a receipt; only the device's unlock removes it")
  func both() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"))
    let container = try #require(try await server.activeContainers("alice").first)
    guard case .object(let found)? = try await server.json("device", "list", "alice").array("devices").first
    else { throw JSONFailure.missingMember("devices") }
    let id = try found.string("id")
    let code = try await device.json("otp").string("code")
    #expect(try await server.json("device", "lock", id, "--reason", "stolen").string("standing") == "locked")
    #expect(try await !server.accepts(code, of: "alice"))
    _ = try await device.run("pending")
    let refused = try await device.run("otp")
    #expect(refused.isRefusal(77, "locked by its server: stolen"), refused.summary)
    let wrong = try await server.run("container", "unlock", container)
    #expect(wrong.status != 0 && wrong.errorOutput.contains("locked the device itself"), wrong.summary)
    // The user deletes the container and activates again: the device stays locked.
    let deleted = try await device.run("delete", "--yes")
    #expect(deleted.status == 0, deleted.summary)
    let again = try await device.run(
      "activate", "--code-file", server.write(await server.invite("alice").text, to: "again.code"))
    #expect(again.status == 77 && again.errorOutput.contains("The device is locked"), again.summary)
    let orders = try await server.json("container", "account", container).array("orders")
    guard case .object(let order)? = orders.first else { throw JSONFailure.missingMember("orders") }
    #expect(try orders.count == 1 && order.bool("done") && order.string("action") == "lock")
    #expect(try await server.json("device", "unlock", id).string("standing") == "open")
    let good = try await device.run(
      "activate", "--code-file", server.write(await server.invite("alice").text, to: "good.code"))
    #expect(good.status == 0, good.summary)
    await server.stop()
  }
}
