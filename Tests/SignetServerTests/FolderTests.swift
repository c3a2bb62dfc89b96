import Foundation
import SignetCrypto
import SignetDataDirectory
import SignetHTTPServer
import SignetProtocol
import SignetStorage
import SignetSystem
import SignetTestKit
import Synchronization
import Testing

import SignetServer

/// The data folder is made completely or not at all.
@Suite(.timeLimit(.minutes(10))) struct FolderTests: DataDirectorySuite {
  let parent: TemporaryFolder

  init() throws { parent = try TemporaryFolder() }

  // MARK: Making

  @Test func makesEveryFileForItsOwnerOnly() async throws {
    let folder = try await makeFolder()
    #expect(try mode(path) == 0o700)
    let names = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    #expect(
      names == ["admin.key", "ca.pem", "master.key", "server.json", "signet.sqlite", "tls.key", "tls.pem"])
    for name in names { #expect(try mode("\(path)/\(name)") == 0o600, "\(name)") }
    #expect(try FileManager.default.contentsOfDirectory(atPath: parent.path) == ["server"])
    let expected = try Self.settings()
    #expect(folder.settings.serverURL == expected.serverURL)
    #expect(folder.settings.profile == expected.profile)
    #expect(folder.settings.listenAddress == "127.0.0.1")
    #expect(folder.settings.listenPort == 8443)
  }

  @Test func givesAServerWhatItNeeds() async throws {
    let folder = try await makeFolder()
    let context = try folder.serviceContext(log: .silent)
    let pin = try SubjectPublicKeyInfo.sha256Pin(ofCertificatePEM: folder.certificatePEM())
    #expect(context.settings.pins == [pin])
    #expect(try folder.authorityPEM() != folder.certificatePEM())
    let transport = try folder.transportConfiguration()
    #expect((transport.address, transport.port) == ("127.0.0.1", 8443))
    guard case .tls = transport.security else {
      Issue.record("no TLS")
      return
    }
    await context.storage.close()
  }

  @Test func makesAnOperatorsKeyThatIsGoodForNothingElse() async throws {
    let folder = try await makeFolder()
    let context = try folder.serviceContext(log: .silent)
    let key = try folder.adminKey().withSecret { String(decoding: $0.insecureCopy(), as: UTF8.self) }
    let keys = APIKeyService(context)
    guard case .key = try await keys.key(authorization: "Bearer \(key)", scope: .admin).actor else {
      Issue.record("the operator is known by another name than the key's")
      return
    }
    await #expect(throws: Problem.self) {
      try await keys.key(authorization: "Bearer \(key)", scope: .relyingParty)
    }
    let entries = try await context.storage.auditEntries(after: 0, limit: 10)
    #expect(entries.count == 1)
    #expect(entries.first?.text.contains(#""event":"key.added","by":"local""#) == true)
    await context.storage.close()
  }

  @Test func refusesWhatIsThereAndLeavesItAlone() async throws {
    _ = try await makeFolder()
    let before = try Data(contentsOf: URL(filePath: "\(path)/master.key"))
    await #expect(throws: DataDirectoryFailure.exists(path: path)) { try await makeFolder() }
    #expect(try Data(contentsOf: URL(filePath: "\(path)/master.key")) == before)
    #expect(try FileManager.default.contentsOfDirectory(atPath: parent.path) == ["server"])
  }

  @Test func refusesAFileInItsPlace() async throws {
    try Data("mine".utf8).write(to: URL(filePath: path))
    await #expect(throws: DataDirectoryFailure.exists(path: path)) { try await makeFolder() }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
  }

  @Test func takesThePlaceOfAnEmptyFolder() async throws {
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
    _ = try await DataDirectory.create(at: path + "//", Self.settings())
    #expect(try mode(path) == 0o700)
    #expect(failure() == nil)
  }

  @Test func needsTheFolderAbove() async throws {
    let parent = parent.path + "/missing"
    await #expect(throws: DataDirectoryFailure.unreadable(path: parent, errno: ENOENT)) {
      try await DataDirectory.create(at: parent + "/server", Self.settings())
    }
  }

  @Test("a path that is not UTF-8 is refused, and nothing is created")
  func pathIsNotText() async throws {
    let (link, above) = ("\(parent.path)/link", Array("\(parent.path)/b".utf8CString.dropLast()) + [-1, 0])
    #expect(mkdir(above, 0o700) == 0 && symlink(above, link) == 0)
    defer { rmdir(above) }
    await #expect(throws: DataDirectoryFailure.pathNotText(path: link)) {
      try await DataDirectory.create(at: "\(link)/server", Self.settings())
    }
    #expect(rmdir(above) == 0)  // it is empty
  }

  @Test func refusesANameThatNoCertificateCanHave() async throws {
    await #expect(throws: DataDirectoryFailure.certificate(.invalidSubjectName)) {
      try await DataDirectory.create(at: path, Self.settings(), alternativeNames: ["a.example,DNS:b.example"])
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: parent.path).isEmpty)
  }

  @Test func oneOfFiftyMakesIt() async throws {
    let settings = try Self.settings()
    let wins = await withTaskGroup(of: Bool.self) { [path] group in
      for _ in 0..<50 {
        group.addTask {
          do throws(DataDirectoryFailure) {
            _ = try await DataDirectory.create(at: path, settings)
            return true
          } catch {
            #expect(error == .exists(path: path))
            return false
          }
        }
      }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(wins == 1)
    #expect(failure() == nil)
    #expect(try FileManager.default.contentsOfDirectory(atPath: parent.path) == ["server"])
  }

  // MARK: Broken off

  private static let steps = [
    "folder", "master.key", "ca.pem", "tls.pem", "tls.key", "signet.sqlite", "admin.key", "server.json",
    "rename",
  ]

  /// A kill before any step leaves at the path the state before that step: nothing.
  @Test func isNothingUntilTheLastStep() async throws {
    let seen = Mutex<[String]>([])
    _ = try await DataDirectory.create(
      at: path, Self.settings(), alternativeNames: [], masterKeyFile: nil, clock: SystemWallClock()
    ) { [path] step in
      seen.withLock { $0.append(step) }
      #expect(throws: DataDirectoryFailure.folderMissing(path: path)) { try DataDirectory(opening: path) }
    }
    #expect(seen.withLock { $0 } == Self.steps)
    #expect(failure() == nil)
  }

  @Test(arguments: steps) func leavesNothingAfterAFailure(before step: String) async throws {
    let fault = DataDirectoryFailure.unwritable(path: step, errno: ENOSPC)
    await #expect(throws: fault) {
      _ = try await DataDirectory.create(
        at: path, Self.settings(), alternativeNames: [], masterKeyFile: nil, clock: SystemWallClock()
      ) { (current) throws(DataDirectoryFailure) in if current == step { throw fault } }
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: parent.path).isEmpty)
  }
}
