import Foundation
import SignetCrypto
import SignetDataDirectory
import SignetJSON
import SignetProtocol
import SignetTesting
import SignetTestKit
import Testing

import SignetServer

/// Another certificate for a server's data folder.
@Suite struct FolderCertificateTests: DataDirectorySuite {
  let parent: TemporaryFolder

  init() throws { parent = try TemporaryFolder() }

  private func text(_ name: String) throws -> String {
    try String(contentsOfFile: "\(path)/\(name)", encoding: .utf8)
  }

  private func count(_ name: String) throws -> Int {
    try text(name).components(separatedBy: "-----BEGIN CERTIFICATE-----").count - 1
  }

  @Test("a new authority certifies the same names and key, and is trusted together with the previous one")
  func sameKey() async throws {
    let folder = try await makeFolder()
    let before = try folder.certificate()
    #expect(before.names == ["127.0.0.1"] && !before.isEnding(at: before.end - CertificateWarning.notice))
    #expect(before.isEnding(at: before.end - CertificateWarning.notice + 1))
    let (settings, key, authority) = (try text("server.json"), try text("tls.key"), try text("ca.pem"))
    let clock = VirtualClock(before.end - 86_400)
    let renewed = try folder.renewingCertificate(clock: clock)
    let after = try renewed.certificate()
    #expect(after.names == before.names && after.pin == before.pin)
    #expect(after.end == clock.now - 3600 + 397 * 86_400)
    #expect(try text("server.json") == settings && text("tls.key") == key)
    #expect(try count("ca.pem") == 2 && text("ca.pem").hasSuffix(authority))
    for name in ["ca.pem", "tls.pem"] { #expect(try mode("\(path)/\(name)") == 0o600) }
    #expect(failure() == nil)
    // A server may still use the first certificate until it expires.
    let again = try renewed.renewingCertificate(clock: clock)
    #expect(try count("ca.pem") == 3 && text("ca.pem").hasSuffix(authority))
    clock.set(before.end + 1)
    let last = try again.renewingCertificate(clock: clock)
    #expect(try count("ca.pem") == 3 && !text("ca.pem").hasSuffix(authority))
    #expect(try last.certificate(clock: clock).authorityRefusal == nil)
    #expect(try FileManager.default.contentsOfDirectory(atPath: path).allSatisfy { !$0.contains(".new-") })
  }

  @Test(
    "a foreign authority is kept until it expires",
    arguments: [("Bank authority", 3650), ("Signet local authority", 3649), ("Bank authority", 500)])
  func othersAuthority(_ name: String, _ days: Int) async throws {
    let folder = try await makeFolder()
    let clock = VirtualClock(try folder.certificate().end)
    let start = clock.now - 400 * 86_400
    let issuer = try CertificateAuthority(commonName: name, validDays: days, at: start)
    let issued = try issuer.issueServerCertificate(
      dnsNames: [], ipAddresses: ["127.0.0.1"], validDays: 825, at: start)
    let authority = try issuer.certificatePEM
    try write("ca.pem", authority)
    try write("tls.pem", issued.certificatePEM)
    try write("tls.key", issued.insecurePrivateKeyPEM)
    var renewed = try DataDirectory(opening: path)
    for count in 2...3 {
      renewed = try renewed.renewingCertificate(clock: clock)
      #expect(try self.count("ca.pem") == count && text("ca.pem").hasSuffix(authority))
    }
    clock.set(start + Int64(days) * 86_400 + 1)
    _ = try renewed.renewingCertificate(clock: clock)
    #expect(try !text("ca.pem").contains(authority))
  }

  @Test("authorities made in the same second have distinct names, and at most eight are kept")
  func manyRenewals() async throws {
    var folder = try await makeFolder()
    let first = try text("ca.pem")
    let clock = VirtualClock(try folder.certificate().end - 86_400)
    for round in 2...9 {
      #expect(try folder.renewalLeavesOutAuthority(clock: clock) == (round == 9))
      folder = try folder.renewingCertificate(clock: clock)
      #expect(try count("ca.pem") == min(round, 8))
    }
    #expect(try !text("ca.pem").contains(first))
    #expect(try Set(authorityNames()).count == 8)
    try write("ca.pem", "no certificate")
    #expect(
      throws: DataDirectoryFailure.certificateUnreadable(path: "\(folder.path)/ca.pem", .invalidCertificate)
    ) { try folder.renewingCertificate() }
  }

  /// The common names of the authorities that clients trust.
  private func authorityNames() throws -> [Substring] {
    let marks = ["-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"]
    let lines = try text("ca.pem").split(separator: "\n", omittingEmptySubsequences: false)
    return try lines.split { marks.contains(String($0)) }.filter { !$0.joined().isEmpty }.map { block in
      let der = try #require(Data(base64Encoded: block.joined()))
      // The name appears twice, as issuer and as subject, since the certificate is self-signed.
      let characters = der.map { Character(UnicodeScalar($0)) }
      let found = try #require(String(characters).firstRange(of: "Signet main"))
      return String(characters)[found.lowerBound...].prefix {
        $0.isASCII && ($0.isLetter || $0.isNumber || $0 == " ")
      }
    }
  }

  @Test(
    "a certificate matches its names, including a wildcard first label, and no others",
    arguments: [
      ("bank.example", true), ("BANK.example", true), ("www.bank.example", true),
      ("a.www.bank.example", false),
      ("example", false), ("10.0.0.1", true), ("10.0.0.2", false), ("[::1]", true), ("[0:0:0::1]", true),
      ("[::2]", false), ("k.example", false),
      ("x.example", false),
    ])
  func hosts(_ host: String, _ isFor: Bool) {
    let names = ["bank.example", "*.Bank.example", "10.0.0.1", "::1", "*."]
    #expect(FolderCertificate(names: names, end: 0, pin: []).isFor(host) == isFor)
  }

  @Test("the configured authority must verify the certificate, now or before its expiry")
  func authority() async throws {
    let folder = try await makeFolder()
    let certificate = try folder.certificate()
    #expect(certificate.authorityRefusal == nil)
    #expect(try folder.certificate(clock: VirtualClock(certificate.end + 1)).authorityRefusal == nil)
    let whole = try text("ca.pem")
    let other = try CertificateAuthority().certificatePEM
    for (pem, isRefused) in [(other, true), (other + whole, false), ("none of these\n" + whole, false)] {
      try write("ca.pem", pem)
      #expect((try folder.certificate().authorityRefusal != nil) == isRefused)
    }
    let long = String(repeating: "x", count: 100_000)
    for pem in ["no certificate", whole + String(whole.dropLast(60)), long] {
      try write("ca.pem", pem)
      #expect(try folder.certificate().authorityRefusal?.contains("\(folder.path)/ca.pem") == true)
    }
    #expect(
      try folder.certificate().authorityRefusal?.contains(" has more than 64 KiB; set \"tls.auth") == true)
    #expect(throws: DataDirectoryFailure.largeFileOfSetting("tls.authority", path: "\(folder.path)/ca.pem")) {
      try folder.authorityPEM()
    }
    try FileManager.default.removeItem(atPath: "\(path)/ca.pem")
    #expect(throws: DataDirectoryFailure.fileOfSetting("tls.authority", path: "\(folder.path)/ca.pem")) {
      try folder.certificate()
    }
    var object = try JSONObject(parsing: Array(text("server.json").utf8))
    object["tls"] = ["certificate": "tls.pem", "key": "tls.key"]
    try write("server.json", object.text)
    #expect(try DataDirectory(opening: path).certificate().authorityRefusal == nil)
  }

  @Test(
    "a renewed certificate has the current host, and the previous or given names"
  )
  func presentHost() async throws {
    let folder = try await DataDirectory.create(
      at: path, Self.settings(), alternativeNames: ["www.bank.example", "::1"])
    let before = try folder.certificate()
    #expect(before.names == ["www.bank.example", "127.0.0.1", "::1"])
    var object = try JSONObject(parsing: Array(text("server.json").utf8))
    object["url"] = "bank.example:8443/main"
    try write("server.json", object.text)
    let moved = try DataDirectory(opening: path)
    #expect(try !moved.certificate().isFor(moved.settings.serverURL.host))
    let renewed = try moved.renewingCertificate()
    let after = try renewed.certificate()
    #expect(after.names == ["bank.example", "www.bank.example", "127.0.0.1", "::1"])
    #expect(after.isFor("bank.example") && after.namesMissing(of: before).isEmpty)
    let chosen = try renewed.renewingCertificate(for: ["WWW.bank.example", "[0:0::1]"]).certificate()
    #expect(chosen.names == ["bank.example", "WWW.bank.example", "::1"])
    #expect(chosen.namesMissing(of: after) == ["127.0.0.1"])
    #expect(failure() == nil)
  }

  @Test("a server with an IPv6 address gets a certificate for it")
  func hostIsIPv6() async throws {
    let folder = try await DataDirectory.create(at: path, Self.settings("[::1]:8443/main"))
    let certificate = try folder.certificate()
    #expect(certificate.names == ["::1"] && certificate.isFor(folder.settings.serverURL.host))
    #expect(try folder.renewingCertificate().certificate().names == ["::1"])
  }

  @Test(
    "a key that is not the certificate's is refused; --new-key replaces both, also where the key is missing")
  func otherKey() async throws {
    let folder = try await makeFolder()
    #expect(folder.keyRefusal == nil)
    let other = try CertificateAuthority().issueServerCertificate(dnsNames: ["bank.example"])
    try write("tls.key", other.insecurePrivateKeyPEM)
    guard case .identityRefused(let certificate, let key, _)? = folder.keyRefusal else {
      Issue.record("the key is taken")
      return
    }
    #expect([certificate, key] == ["\(folder.path)/tls.pem", "\(folder.path)/tls.key"])
    try FileManager.default.removeItem(atPath: "\(path)/tls.key")
    #expect(folder.keyRefusal == .fileOfSetting("tls.key", path: "\(folder.path)/tls.key"))
    #expect(try folder.renewingCertificate(withNewKey: true).keyRefusal == nil)
    #expect(failure() == nil)
  }

  @Test("a new key is written to new files, and the settings name them")
  func newKey() async throws {
    let folder = try await makeFolder()
    let before = try folder.certificate()
    let (key, certificate) = (try text("tls.key"), try text("tls.pem"))
    let renewed = try folder.renewingCertificate(withNewKey: true)
    #expect(renewed.settings.tls.certificate == "tls-2.pem" && renewed.settings.tls.key == "tls-2.key")
    var expected = folder.settings
    expected.tls = renewed.settings.tls
    #expect(renewed.settings == expected)
    #expect(try renewed.certificate().pin != before.pin && renewed.certificate().names == before.names)
    #expect(try text("tls.key") == key && text("tls.pem") == certificate)
    #expect(try mode("\(path)/tls-2.key") == 0o600 && count("ca.pem") == 2)
    #expect(failure() == nil)
    let third = try renewed.renewingCertificate(withNewKey: true)
    #expect(third.settings.tls.certificate == "tls-3.pem" && third.settings.tls.authority == "ca.pem")
  }

  @Test("foreign certificates are left unchanged")
  func ofOthers() async throws {
    let folder = try await makeFolder()
    for tls: JSONValue in [
      ["certificate": "tls.pem", "key": "tls.key"],
      ["certificate": .string("\(path)/tls.pem"), "key": "tls.key", "authority": "ca.pem"],
    ] {
      var object = try JSONObject(parsing: Array(text("server.json").utf8))
      object["tls"] = tls
      try write("server.json", object.text)
      let before = try text("tls.pem")
      #expect(throws: DataDirectoryFailure.certificateOfOthers(path: "\(folder.path)/server.json")) {
        try DataDirectory(opening: path).renewingCertificate()
      }
      #expect(try text("tls.pem") == before && count("ca.pem") == 1)
    }
  }
}
