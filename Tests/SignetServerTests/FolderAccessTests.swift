import Foundation
import SignetCrypto
import SignetDataDirectory
import SignetHTTPServer
import SignetJSON
import SignetStorage
import SignetTestKit
import Testing

import SignetServer

/// A data folder is checked before use: access rights and keys.
@Suite struct FolderAccessTests: DataDirectorySuite {
  let parent: TemporaryFolder

  init() throws { parent = try TemporaryFolder() }

  // MARK: Who has access

  @Test func followsALinkToTheFolder() async throws {
    _ = try await makeFolder()
    let link = parent.path + "/link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    let context = try DataDirectory(opening: link).serviceContext(log: .silent)
    await context.storage.close()
  }

  @Test func refusesAFolderThatOthersMayEnter() async throws {
    _ = try await makeFolder()
    setMode(0o710, of: ".")
    #expect(failure() == .openToOthers(path: path, mode: 0o710))
  }

  @Test(
    arguments: ["master.key", "admin.key", "tls.key", "signet.sqlite"], [0o640, 0o604, 0o620] as [mode_t])
  func refusesASecretThatOthersHaveAccessTo(name: String, mode: mode_t) async throws {
    _ = try await makeFolder()
    setMode(mode, of: name)
    #expect(failure() == .openToOthers(path: "\(path)/\(name)", mode: UInt32(mode)))
  }

  @Test(arguments: ["server.json", "tls.pem"]) func letsOthersReadWhatIsPublic(name: String) async throws {
    _ = try await makeFolder()
    setMode(0o644, of: name)
    #expect(failure() == nil)
    setMode(0o664, of: name)
    #expect(failure() == .openToOthers(path: "\(path)/\(name)", mode: 0o664))
  }

  @Test(arguments: ["server.json", "master.key", "admin.key", "tls.key", "tls.pem", "signet.sqlite"])
  func refusesALinkInTheFolder(name: String) async throws {
    _ = try await makeFolder()
    let elsewhere = parent.path + "/elsewhere"
    try FileManager.default.moveItem(atPath: "\(path)/\(name)", toPath: elsewhere)
    try FileManager.default.createSymbolicLink(atPath: "\(path)/\(name)", withDestinationPath: elsewhere)
    #expect(failure() == .wrongKind(path: "\(path)/\(name)"))
  }

  @Test(.enabled(if: geteuid() == 0 || ContinuousIntegration.isHere, "only root can give files away"))
  func refusesWhatBelongsToAnother() async throws {
    _ = try await makeFolder()
    for name in [".", "server.json", "master.key", "admin.key", "tls.key", "signet.sqlite"] {
      let place = name == "." ? path : "\(path)/\(name)"
      #expect(chown(place, 65_534, 65_534) == 0)
      #expect(failure() == .ownedByAnother(path: place, owner: 65_534, user: 0))
      #expect(chown(place, 0, 0) == 0)
    }
    #expect(failure() == nil)
  }

  @Test(arguments: ["server.json", "master.key", "admin.key", "tls.key", "tls.pem", "signet.sqlite"])
  func saysWhichFileIsMissing(name: String) async throws {
    _ = try await makeFolder()
    try FileManager.default.removeItem(atPath: "\(path)/\(name)")
    let file = "\(path)/\(name)"
    let expected: DataDirectoryFailure =
      switch name {
      case "tls.key": .fileOfSetting("tls.key", path: file)
      case "tls.pem": .fileOfSetting("tls.certificate", path: file)
      case "master.key": .masterKeyMissing(path: file)
      default: .fileMissing(path: file)
      }
    #expect(failure() == expected)
    #expect(!FileManager.default.fileExists(atPath: file))
  }

  @Test func saysThatThereIsNoFolder() throws {
    #expect(failure() == .folderMissing(path: path))
    try Data().write(to: URL(filePath: path))
    #expect(failure() == .noFolder(path: path))
  }

  // MARK: The master key

  @Test func noticesAnotherMasterKey() async throws {
    _ = try await makeFolder()
    let key = "\(path)/master.key"
    try write("master.key", String(repeating: "k", count: 32))
    #expect(failure() == .wrongMasterKey(path: key))
    try write("master.key", String(repeating: "k", count: 31))
    #expect(failure() == .masterKeyLength(path: key))
    try write("master.key", String(repeating: "k", count: 33))
    #expect(failure() == .masterKeyLength(path: key))
    try write("master.key", String(repeating: "k", count: 65_537))
    #expect(failure() == .tooLarge(path: key))
  }

  @Test func keepsTheMasterKeyElsewhere() async throws {
    let key = parent.path + "/master"
    #expect(FileManager.default.createFile(atPath: key, contents: Data(repeating: 7, count: 32)))
    #expect(chmod(key, 0o600) == 0)
    let folder = try await DataDirectory.create(at: path, Self.settings(), masterKeyFile: key)
    #expect(!FileManager.default.fileExists(atPath: "\(path)/master.key"))
    #expect(failure() == .masterKeyMissing(path: "\(path)/master.key"))
    let context = try folder.serviceContext(masterKeyFile: key, log: .silent)
    await context.storage.close()
  }

  // MARK: Certificates and API keys

  @Test func usesACertificateFromElsewhere() async throws {
    _ = try await makeFolder()
    let authority = try CertificateAuthority()
    let issued = try authority.issueServerCertificate(dnsNames: ["id.example.org"])
    let (certificate, key) = (parent.path + "/fullchain.pem", parent.path + "/privkey.pem")
    try Data(issued.certificatePEM.utf8).write(to: URL(filePath: certificate))
    try Data(issued.insecurePrivateKeyPEM.utf8).write(to: URL(filePath: key))
    #expect(chmod(key, 0o600) == 0)
    let file = "\(path)/server.json"
    var object = try JSONObject(parsing: Array(Data(contentsOf: URL(filePath: file))))
    object["tls"] = ["certificate": .string(certificate), "key": .string(key)]
    try write("server.json", object.text)
    let folder = try DataDirectory(opening: path)
    #expect(try folder.authorityPEM() == nil)
    #expect(
      try folder.certificatePin() == SubjectPublicKeyInfo.sha256Pin(ofCertificatePEM: issued.certificatePEM))
    #expect(failure() == nil)
    #expect(chmod(key, 0o640) == 0)
    #expect(failure() == .openToOthers(path: key, mode: 0o640))
  }

  @Test func refusesAKeyThatIsNotTheCertificates() async throws {
    _ = try await makeFolder()
    let other = try CertificateAuthority().issueServerCertificate(dnsNames: ["localhost"])
    try write("tls.key", other.insecurePrivateKeyPEM)
    guard case .identityRefused(let certificate, let key, .certificateRefused)? = failure() else {
      Issue.record("not refused: \(String(describing: failure()))")
      return
    }
    #expect(certificate.hasSuffix("/tls.pem") && key.hasSuffix("/tls.key"))
    let text = try #require(failure()).description
    #expect(text.contains("\(certificate), \(key): ") && text.contains("do not match"), "\(text)")
  }

  @Test(arguments: ["", "\n", "two words", "signet_\u{0}", String(repeating: "k", count: 257), "käse"])
  func refusesWhatIsNoAPIKey(text: String) async throws {
    _ = try await makeFolder()
    try write("admin.key", text)
    #expect(failure() == .notAnAPIKey(path: "\(path)/admin.key"))
  }

  @Test(arguments: ["signet_1_a", "signet_1_a\n", "signet_1_a\r\n"])
  func readsAnAPIKeyUpToItsNewline(text: String) async throws {
    _ = try await makeFolder()
    try write("admin.key", text)
    let key = try DataDirectory(opening: path).adminKey()
    #expect(key.withSecret { String(decoding: $0.insecureCopy(), as: UTF8.self) } == "signet_1_a")
  }
}
