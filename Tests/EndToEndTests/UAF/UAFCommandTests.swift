import Foundation
import SignetCrypto
import SignetJSON
import SignetTestKit
import Testing

/// The built `signet uaf` and a `signet-server` in another process, over TLS.
@Suite(.serialized, .timeLimit(.minutes(10))) struct UAFCommandTests {
  private func target(_ device: InstalledSignet) async throws -> String {
    guard
      case .object(let target)? = try await device.json("uaf", "device", "show").array("dispatchTargets")
        .first
    else { throw JSONFailure.missingMember("dispatchTargets") }
    return try target.string("id")
  }

  @Test("registration, authentication, PIN change and deregistration in two processes")
  func inBand() async throws {
    let party = try await UAFParty.start()
    let device = party.device()
    let register = [
      "uaf", "register", "alice", "--authenticator", "pin", "--device-name", "laptop", "--token-fd", "0",
    ]
    let refused = try await device.run(register + party.words, passwords: ["no-such-token", "271828"])
    #expect(refused.isRefusal(77, "1401"), refused.summary)
    let short = try await device.run(register + party.words, passwords: [party.key, "2718"])
    #expect(short.isRefusal(65, "6 digits"), short.summary)
    let made = try await device.run(register + party.words + ["--json"], passwords: [party.key, "271828"])
    try #require(made.status == 0, made.summary)
    #expect(try JSONObject(parsing: Array(made.output.utf8)).string("username") == "alice")

    let listed = try await device.run("uaf", "list")
    #expect(
      listed.status == 0 && listed.output.contains("PIN") && listed.output.contains("alice"), listed.summary)
    let wrong = try await device.run(
      ["uaf", "authenticate", "alice", "-a", "pin"] + party.words, passwords: ["000000"])
    #expect(wrong.isRefusal(77, "the PIN is wrong; 4 tries are left"), wrong.summary)
    let mistyped = try await device.run(
      ["uaf", "authenticate", "alice", "-a", "pn"] + party.words, passwords: ["271828"])
    #expect(mistyped.isRefusal(65, "no such authenticator: pn; signet uaf list shows"), mistyped.summary)
    let changed = try await device.run("uaf", "pin", "alice", passwords: ["271828", "161803"])
    #expect(changed.status == 0, changed.summary)
    let token = try await device.run(["uaf", "authenticate", "alice"] + party.words, passwords: ["161803"])
    #expect(token.status == 0 && token.output.split(separator: ".").count == 3, token.summary)

    for words in [["authenticate", "alice"], ["deregister", "alice", "--yes"]] {
      let elsewhere = try await device.run(["uaf"] + words + ["--uaf-server", "https://other.example/uaf"])
      #expect(elsewhere.isRefusal(64, "alice is registered at \(party.url), and not at"), elsewhere.summary)
    }

    // The user's token authorizes the registration of another authenticator.
    let jwt = token.output.trimmingCharacters(in: .whitespacesAndNewlines)
    let words = ["uaf", "register", "alice", "-a", "password", "--token-fd", "0"] + party.words
    for weak in ["password", "horse"] {
      let refused = try await device.run(words, passwords: [jwt, weak])
      #expect(refused.status == 65, refused.summary)
    }
    let second = try await device.run(words, passwords: [jwt, "correct horse"])
    #expect(second.status == 0, second.summary)
    let other = try await device.run(
      ["uaf", "authenticate", "alice", "-a", "password"] + party.words, passwords: ["correct horse"])
    #expect(other.status == 0, other.summary)

    let weaker = try await device.run("uaf", "password", "alice", passwords: ["correct horse", "password"])
    #expect(weaker.status == 65, weaker.summary)

    let one = try await device.run(
      ["uaf", "deregister", "alice", "-a", "password", "--yes"] + party.words)
    #expect(one.status == 0 && one.output.contains("1 key"), one.summary)
    let all = try await device.run(["uaf", "deregister", "alice", "--yes"] + party.words)
    #expect(all.status == 0 && all.output.contains("1 key"), all.summary)
    #expect(try await device.run("uaf", "device", "show").status == 1)
    await party.server.stop()
  }

  @Test("a code registers, a message confirms a transaction, and pending requests are listed")
  func outOfBand() async throws {
    let party = try await UAFParty.start()
    let device = party.device()
    let (picture, session) = try await party.dispatch(
      "registration", by: "link-png-qr-code", ["username": "alice"])
    let code = "\(party.server.folder.path)/code.png"
    try #require(Data(base64Encoded: picture)).write(to: URL(filePath: code))
    let decoded = try await device.run(["uaf", "oob", "decode", code] + party.words)
    #expect(decoded.status != 0, "there is no folder yet")
    let registered = try await device.run(
      ["uaf", "oob", "run", code, "-a", "pin", "--device-name", "laptop"] + party.words, passwords: ["271828"]
    )
    try #require(registered.status == 0, registered.summary)
    #expect(try await party.status(session) == "succeeded")
    let again = try await device.run(
      ["uaf", "oob", "run", code, "-a", "pin"] + party.words, passwords: ["271828"])
    #expect(again.isRefusal(1, "used before"), again.summary)

    let context: JSONObject = ["username": "alice", "transaction": "Pay 20 EUR to Bob"]
    let (link, confirmation) = try await party.dispatch("authentication", to: target(device), context)
    let file = try party.server.write(link, to: "message.link")
    let message = try await device.run(["uaf", "oob", "decode", file, "--json"] + party.words)
    #expect(message.status == 0 && message.output.contains(#""encrypted":true"#), message.summary)
    let waiting = try await device.run(["uaf", "pending"] + party.words)
    #expect(waiting.status == 0 && waiting.output.contains("authentication for alice"), waiting.summary)
    let confirmed = try await device.run(["uaf", "oob", "run", file] + party.words, passwords: ["271828"])
    #expect(confirmed.status == 0 && confirmed.errorOutput.contains("| Pay 20 EUR to Bob"), confirmed.summary)
    #expect(try await party.status(confirmation) == "succeeded")
    // An empty list is a success; with `--run`, nothing to do is a failure.
    let empty: [([String], Int32)] = [([], 0), (["--json"], 0), (["--run"], 1)]
    for (words, status) in empty {
      let nothing = try await device.run(["uaf", "pending"] + words + party.words)
      #expect(nothing.status == status, nothing.summary)
    }

    let removal = try await party.link("deregistration", ["username": "alice"])
    let removed = try await device.run(["uaf", "oob", "run", removal] + party.words)
    #expect(removed.status == 0 && removed.output.contains("1 key"), removed.summary)
    await party.server.stop()
  }

  @Test("a server's information about a device is shown, changed, checked and corrected")
  func deviceInformation() async throws {
    let party = try await UAFParty.start()
    let device = party.device()
    let link = try await party.link("registration", ["username": "alice"])
    let made = try await device.run(
      ["uaf", "oob", "run", link, "-a", "pin", "--device-name", "laptop"] + party.words, passwords: ["271828"]
    )
    try #require(made.status == 0, made.summary)
    let changed = try await device.run(
      ["uaf", "device", "change", "--name", "desk", "--push-token", "abc"] + party.words)
    #expect(changed.status == 0, changed.summary)
    let shown = try await device.json("uaf", "device", "show")
    #expect(try shown.string("name") == "desk" && shown.bool("push"))
    let same = try await device.run(["uaf", "device", "check"] + party.words)
    #expect(same.status == 0 && same.output == "Nothing differs.\n", same.summary)
    // The device deletes its key without informing the server.
    let second = try await party.link("registration", ["username": "alice"])
    let password = try await device.run(
      ["uaf", "oob", "run", second, "-a", "password"] + party.words, passwords: ["correct horse"])
    #expect(password.status == 0, password.summary)
    let deleted = try await device.run("uaf", "delete", "alice", "-a", "password", "--yes")
    #expect(deleted.status == 0, deleted.summary)
    let gone = try await device.run("uaf", "delete", "alice", "-a", "password", "--yes")
    #expect(gone.isRefusal(65, "no such key of that user; signet uaf list shows"), gone.summary)
    let differs = try await device.run(["uaf", "device", "check", "--json"] + party.words)
    #expect(
      differs.status == 1 && differs.output.contains("missingAuthenticatorInMobileDevice"), differs.summary)
    let mended = try await device.run(["uaf", "device", "sync"] + party.words)
    #expect(mended.status == 0 && mended.output.hasSuffix("\nSynchronised.\n"), mended.summary)
    #expect(mended.output.contains(": found: the server has a key of the authenticator"), mended.summary)
    #expect(try await device.run(["uaf", "device", "check"] + party.words).status == 0)
    let nothing = try await device.run(["uaf", "device", "sync"] + party.words)
    #expect(nothing.status == 0 && nothing.output == "Nothing differs.\n", nothing.summary)
    // Without a token, the server works without this device until the user authenticates.
    let removed = try await party.server.run("uaf", "remove-target", target(device))
    #expect(removed.status == 0, removed.summary)
    let forgotten = try await device.run(["uaf", "device", "sync"] + party.words)
    #expect(forgotten.status == 0 && forgotten.output.contains("found: the server does not know this device"))
    #expect(forgotten.output.hasSuffix("learns of it with the next authentication.\n"), forgotten.summary)
    let known = try await device.run(
      ["uaf", "device", "sync", "--token-fd", "0"] + party.words, passwords: [party.key])
    #expect(known.status == 0 && known.output.hasSuffix("\nSynchronised.\n"), known.summary)
    #expect(try await device.run(["uaf", "device", "check"] + party.words).status == 0)
    await party.server.stop()
  }

  @Test("wrong words, wrong servers and missing registrations have different errors")
  func refusals() async throws {
    let party = try await UAFParty.start()
    let device = party.device()
    let unnamed = try await device.run("uaf", "device", "check")
    #expect(unnamed.isRefusal(78, "no container yet"), unnamed.summary)
    let plain = try await device.run(
      "uaf", "register", "alice", "--uaf-server", "http://127.0.0.1/", passwords: ["271828"])
    #expect(plain.isRefusal(64, "https"), plain.summary)
    let garbage = try party.server.write("no code at all", to: "garbage")
    let unread = try await device.run(["uaf", "oob", "run", garbage] + party.words)
    #expect(unread.status == 65, unread.summary)
    let untrusted = try await device.run(
      ["uaf", "register", "alice", "-a", "pin", "--facet", "linux:app-id:other", "--token-fd", "0"]
        + party.words,
      passwords: [party.key, "271828"])
    #expect(untrusted.status == 76, untrusted.summary)
    let none = try await device.json("uaf", "list")
    #expect(try none.array("accounts").isEmpty)
    await party.server.stop()
  }

  @Test("a mistyped PIN is asked for again at the terminal, without echo")
  func terminal() async throws {
    let party = try await UAFParty.start()
    let device = party.device()
    let code = try await party.link("registration", ["username": "alice"])
    let registration = try ControllingTerminal(
      device, ["uaf", "oob", "run", code, "--device-name", "laptop"] + party.words)
    try registration.expect("1 PIN")
    try registration.answer("Which authenticator? [1-", "1")
    // Longer than any number in the output, such as a port.
    let tooLong = "31415926535"
    try registration.answer("New PIN: ", tooLong)
    try registration.answer("Repeat it: ", tooLong)
    try registration.expect("Not accepted: use 6 digits.")
    try registration.answer("New PIN: ", "314159")
    try registration.answer("Repeat it: ", "314159")
    let registered = try await registration.end()
    #expect(registered.status == 0 && registered.shown.contains("Registered alice"), "\(registered.shown)")
    #expect(!registered.shown.contains("314159") && !registered.shown.contains(tooLong.suffix(6)))

    let message = try await party.link(
      "authentication", to: target(device), ["username": "alice", "transaction": "Pay 20 EUR to Bob"])
    let authentication = try ControllingTerminal(device, ["uaf", "oob", "run", message] + party.words)
    try authentication.expect("| Pay 20 EUR to Bob")
    try authentication.answer("PIN of alice: ", "314158")
    try authentication.expect("Not accepted: the PIN is wrong; 4 tries are left.")
    try authentication.answer("PIN of alice: ", "314159")
    let authenticated = try await authentication.end()
    #expect(authenticated.status == 0, "\(authenticated.shown)")
    #expect(authenticated.shown.contains("Authenticated."))
    for typed in ["314158", "314159"] { #expect(!authenticated.shown.contains(typed)) }

    let stopped = try ControllingTerminal(device, ["uaf", "authenticate", "alice"] + party.words)
    try stopped.answer("PIN of alice: ", "\u{4}", newline: false)
    let ended = try await stopped.end()
    #expect(ended.status == 130, "\(ended)")
    await party.server.stop()
  }
}
