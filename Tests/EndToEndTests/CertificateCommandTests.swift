import Foundation
import SignetCrypto
import SignetJSON
import SignetTestKit
import Testing

/// `signet-server certificate`: validity and renewal of the server's certificate.
@Suite(.serialized, .timeLimit(.minutes(10))) struct CertificateCommandTests {
  @Test("relying parties and devices trust the server before and after it presents the new certificate")
  func renew() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device", "--san", "signet.test"])
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"))
    let shown = try await server.json("certificate", "show")
    #expect(try shown.strings("names") == ["signet.test", "127.0.0.1"])
    let pin = try shown.string("pin")

    let renewed = try await server.run("certificate", "renew")
    #expect(
      renewed.status == 0 && renewed.errorOutput.contains("   signet trust ca.pem --pin \(pin)\n"),
      renewed.summary)
    #expect(!renewed.errorOutput.contains("3. "), renewed.summary)
    let after = try await server.json("certificate", "show")
    #expect(try after.integer("end") >= shown.integer("end") && after.string("pin") == pin)
    // The server presents its old certificate until it is restarted.
    #expect(try await server.run("user", "list").status == 0)
    #expect(try await device.run("pending").status == 0)
    let other = server.device("other")
    _ = try await other.json("activate", "--code-file", server.codeFile("bob"))
    await server.stop()
    let again = try await server.again()
    #expect(try await again.run("user", "list").status == 0)
    // A device activated with the new file trusts both authorities; one activated before has to be informed.
    #expect(try await other.run("pending").status == 0)
    let stranger = try await device.run("pending")
    #expect(stranger.isRefusal(76, "its issuer is not trusted"), stranger.summary)
    _ = try await device.json("trust", again.authority, "--pin", pin)
    #expect(try await device.run("pending").status == 0)

    let exchanged = try await again.json("certificate", "renew", "--new-key")
    let newPin = try exchanged.string("pin")
    #expect(try exchanged.strings("previousPins") == [pin] && newPin != pin)
    let advice = try exchanged.strings("advice")
    #expect(
      advice.count == 1
        && advice[0].hasPrefix("When the server presents it, remove all but the first authority from"))
    #expect(advice.allSatisfy { $0.hasSuffix(" signet trust ca.pem --pin \(newPin)") }, "\(advice)")
    _ = try await device.json("trust", again.authority, "--pin", newPin, "--pin", pin)
    #expect(try await device.run("pending").status == 0)
    await again.stop()
    let last = try await again.again()
    #expect(try await device.run("pending").status == 0)
    #expect(try await other.run("pending").isRefusal(76, "certificate was refused"))
    // The effect of the command's advice: the old key is trusted no more, and the server's own certificate still is.
    let authorities = try String(contentsOfFile: last.authority, encoding: .utf8)
    let end = try #require(authorities.firstRange(of: "-----END CERTIFICATE-----\n"))
    try Self.replace(last.authority, String(authorities[..<end.upperBound]))
    _ = try await device.json("trust", last.authority, "--pin", newPin)
    #expect(try await device.run("pending").status == 0)
    #expect(try await last.run("user", "list").status == 0)
    #expect(try await last.run("certificate", "show").status == 0)
    await last.stop()
  }

  @Test("two renewals before SIGHUP disconnect no client")
  func renewedTwice() async throws {
    let server = try await RunningServer.startWithShop()
    for _ in 0..<2 {
      let renewed = try await server.run("certificate", "renew")
      #expect(renewed.status == 0 && !renewed.errorOutput.contains("\"url\""), renewed.summary)
    }
    #expect(try await server.run("user", "list").status == 0)
    server.send(SIGHUP)
    while !server.events.contains(#""event":"reload.done","certificate":"new""#) { await Task.yield() }
    #expect(try await server.run("user", "list").status == 0)
    await server.stop()
  }

  @Test("a renewal that drops the authority still in use warns and names SIGHUP")
  func renewedTooOften() async throws {
    let server = try await RunningServer.startWithShop()
    let warning = "the oldest was left out, but its certificates have not expired. Send SIGHUP"
    for _ in 0..<7 {
      let renewed = try await server.run("certificate", "renew")
      #expect(renewed.status == 0 && !renewed.errorOutput.contains(warning), renewed.summary)
    }
    #expect(try await server.run("user", "list").status == 0)
    let renewed = try await server.run("certificate", "renew")
    #expect(renewed.status == 0 && renewed.errorOutput.contains(warning), renewed.summary)
    #expect(
      try await server.json("certificate", "renew").strings("advice").map { $0.contains(warning) } == [true])
    let refused = try await server.run("user", "list")
    #expect(
      refused.isRefusal(76, "its issuer is not trusted; it shows another certificate than the one in"),
      refused.summary)
    #expect(refused.errorOutput.contains("send SIGHUP to the server"), refused.summary)
    server.send(SIGHUP)
    while !server.events.contains(#""event":"reload.done","certificate":"new""#) { await Task.yield() }
    #expect(try await server.run("user", "list").status == 0)
    await server.stop()
  }

  @Test(
    "two key changes before SIGHUP lock no device out; pins are printed while ca.pem trusts the keys"
  )
  func exchangedTwice() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"))
    var pins = [try await server.json("certificate", "show").string("pin")]
    for _ in 0..<2 {
      let exchanged = try await server.json("certificate", "renew", "--new-key")
      #expect(try exchanged.strings("previousPins") == pins)
      #expect(try exchanged.strings("advice").count == 1)
      pins.insert(try exchanged.string("pin"), at: 0)
    }
    // A renewal that keeps the key names the same pins.
    let renewed = try await server.json("certificate", "renew")
    #expect(try renewed.string("pin") == pins[0])
    #expect(try renewed.strings("previousPins") == Array(pins[1...]))
    #expect(try renewed.strings("advice").count == 1)
    let trusting = try await device.run(["trust", server.authority] + pins.flatMap { ["--pin", $0] })
    #expect(trusting.status == 0, trusting.summary)
    #expect(try await device.run("pending").status == 0)
    server.send(SIGHUP)
    while !server.events.contains(#""event":"reload.done","certificate":"new""#) { await Task.yield() }
    #expect(try await device.run("pending").status == 0)
    let authorities = try String(contentsOfFile: server.authority, encoding: .utf8)
    let end = try #require(authorities.firstRange(of: "-----END CERTIFICATE-----\n"))
    try Self.replace(server.authority, String(authorities[..<end.upperBound]))
    let last = try await server.json("certificate", "renew")
    #expect(try last.strings("previousPins") == [] && last["advice"] == nil)
    await server.stop()
  }

  @Test("after a change of the URL, the command names the restart and the new activations")
  func otherURL() async throws {
    let server = try await RunningServer.startWithShop()
    try server.changeSettings { settings in settings["url"] = "bank.example/main" }
    let renewed = try await server.run("certificate", "renew")
    #expect(
      renewed.status == 0
        && renewed.errorOutput.contains(
          "not for bank.example. If \"url\" was changed to that, restart the server")
        && renewed.errorOutput.contains("activate, enrol and configure them anew"), renewed.summary)
    await server.stop()
  }

  @Test("an invalid certificate name is a usage error")
  func badName() async throws {
    let folder = try TemporaryFolder()
    let made = try await ServerCommand.run(
      "init", "--data", folder.file("data"), "--url", "localhost/main", "--san", "bad name")
    #expect(made.isRefusal(64, "--san must be a DNS name"), made.summary)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    try await InitializedFolder.make([], FreePort.find(), in: folder)
    let renewed = try await ServerCommand.run(
      "certificate", "renew", "--data", folder.file("data"), "--san", "a.example,DNS:b.example")
    #expect(renewed.isRefusal(64, "--san must be a DNS name"), renewed.summary)
  }

  @Test("a command and the log warn 30 days before the certificate expires")
  func ending() async throws {
    let server = try await RunningServer.startWithShop()
    #expect(try await server.run("certificate", "show").status == 0)
    #expect(!server.events.contains("certificate.ends"))
    await server.stop()
    try replaceCertificate(of: server, dnsNames: [], ipAddresses: ["127.0.0.1"])
    let again = try await server.again()
    let shown = try await again.run("certificate", "show")
    #expect(shown.status == 1 && shown.errorOutput.contains("signet-server certificate renew"), shown.summary)
    #expect(shown.output.contains("For          127.0.0.1\n"), shown.summary)
    while !again.events.contains(#""event":"certificate.ends","days":"9""#) { await Task.yield() }
    #expect(!again.events.contains("certificate.otherHost"))
    await again.stop()
    // The output does not call a certificate renewable that is managed elsewhere.
    try again.changeSettings { settings in
      settings["tls"] = [
        "certificate": .string("\(again.data)/tls.pem"), "key": "tls.key", "authority": "ca.pem",
      ]
    }
    let ofOthers = try await again.run("certificate", "show")
    #expect(ofOthers.status == 1, ofOthers.summary)
    #expect(
      ofOthers.errorOutput.contains("; it was not issued by signet-server: renew it at"), ofOthers.summary)
    #expect(!ofOthers.errorOutput.contains("certificate renew"), ofOthers.summary)
  }

  @Test(
    "a certificate for another host is logged at start and SIGHUP; an unreadable one is logged with its file")
  func otherHost() async throws {
    let server = try await RunningServer.startWithShop()
    #expect(!server.events.contains("certificate.otherHost"))
    try replaceCertificate(of: server, dnsNames: ["bank.example", "*.bank.example"], ipAddresses: [])
    let said = #""event":"certificate.otherHost","host":"127.0.0.1","names":"bank.example, *.bank.example""#
    server.send(SIGHUP)
    while !server.events.contains(said) { await Task.yield() }
    await server.stop()
    let again = try await server.again()
    while !again.events.contains(said) { await Task.yield() }
    let shown = try await again.run("certificate", "show")
    #expect(shown.status == 1, shown.summary)
    #expect(
      shown.errorOutput.contains("it is not for the server's host, 127.0.0.1; renew it: "), shown.summary)
    #expect(shown.errorOutput.contains("; renew it: signet-server certificate renew --data "), shown.summary)
    #expect(!shown.errorOutput.contains("does not verify it"), shown.summary)
    let renewed = try await again.json("certificate", "renew")
    #expect(try renewed.strings("names") == ["bank.example", "*.bank.example", "127.0.0.1"])
    #expect(try await again.run("certificate", "show").status == 0)
    let chosen = try await again.run("certificate", "renew", "--san", "bank.example")
    #expect(
      chosen.status == 0 && chosen.output.contains("For          bank.example, 127.0.0.1\n"), chosen.summary)
    #expect(chosen.errorOutput.contains("It is no longer valid for *.bank.example: "), chosen.summary)
    try Self.replace("\(server.data)/tls.pem", "no certificate")
    again.send(SIGHUP)
    while !again.events.contains(#""event":"reload.refused""#) { await Task.yield() }
    let refused = again.events.split(separator: "\n").first { $0.contains("reload.refused") } ?? ""
    #expect(refused.contains("/tls.pem: "), "\(refused)")
    await again.stop()
  }

  @Test("an authority that did not issue it is named in the log and by commands; a missing one is refused")
  func otherAuthority() async throws {
    let server = try await RunningServer.startWithShop()
    #expect(!server.events.contains("certificate.otherAuthority"))
    try Self.replace(server.authority, CertificateAuthority().certificatePEM)
    let said = #""event":"certificate.otherAuthority""#
    server.send(SIGHUP)
    while !server.events.contains(said) { await Task.yield() }
    let refused = try await server.run("user", "list")
    #expect(
      refused.isRefusal(76, "\"tls.authority\" of \(server.data)/server.json has to name"), refused.summary)
    await server.stop()
    let again = try await server.again()
    while !again.events.contains(said) { await Task.yield() }
    let shown = try await again.run("certificate", "show")
    #expect(
      shown.status == 1 && shown.errorOutput.contains("ca.pem does not verify it ("), shown.summary)
    try FileManager.default.removeItem(atPath: again.authority)
    again.send(SIGHUP)
    while !again.events.contains(#""event":"reload.refused""#) { await Task.yield() }
    await again.stop()
    let serve = try await again.run("serve")
    #expect(
      serve.isRefusal(78, "ca.pem is missing, which \"tls.authority\" of server.json names"), serve.summary)
  }

  @Test(
    "a key that is not the certificate's, and an authority that is too large, are named with the next step")
  func otherKey() async throws {
    let server = try await RunningServer.startWithShop()
    let other = try CertificateAuthority().issueServerCertificate(dnsNames: ["bank.example"])
    try Self.replace("\(server.data)/tls.key", other.insecurePrivateKeyPEM)
    let shown = try await server.run("certificate", "show")
    #expect(
      shown.status == 1 && shown.errorOutput.contains("The server does not start with it: "), shown.summary)
    #expect(
      shown.errorOutput.contains("make both anew: signet-server certificate renew --data "), shown.summary)
    let renewed = try await server.run("certificate", "renew", "--new-key")
    let pin = try await server.json("certificate", "show").string("pin")
    #expect(
      renewed.status == 0 && renewed.errorOutput.contains("\n3. When the server presents it, "),
      renewed.summary)
    #expect(renewed.errorOutput.contains("   signet trust ca.pem --pin \(pin)\n"), renewed.summary)
    #expect(try await server.run("certificate", "show").status == 0)
    try Self.replace(server.authority, String(repeating: "x", count: 100_000))
    for words in [["certificate", "show"], ["user", "list"]] {
      let refused = try await ServerCommand.run(words + ["--data", server.data])
      #expect(
        refused.status != 0 && refused.errorOutput.contains("ca.pem has more than 64 KiB; set "),
        refused.summary)
      #expect(!refused.errorOutput.contains("restore it from a backup"), refused.summary)
    }
    await server.stop()
  }

  /// Installs another authority and a certificate of ten days in a server's folder.
  private func replaceCertificate(
    of server: RunningServer, dnsNames: [String], ipAddresses: [String]
  ) throws {
    let authority = try CertificateAuthority()
    let issued = try authority.issueServerCertificate(
      dnsNames: dnsNames, ipAddresses: ipAddresses, validDays: 10)
    try Self.replace("\(server.data)/ca.pem", authority.certificatePEM)
    try Self.replace("\(server.data)/tls.pem", issued.certificatePEM)
    try Self.replace("\(server.data)/tls.key", issued.insecurePrivateKeyPEM)
  }

  private static func replace(_ path: String, _ text: String) throws {
    let file = try FileHandle(forWritingTo: URL(filePath: path))
    try file.truncate(atOffset: 0)
    try file.write(contentsOf: Data(text.utf8))
    try file.close()
  }
}
