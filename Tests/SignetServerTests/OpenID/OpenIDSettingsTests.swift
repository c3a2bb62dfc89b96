import Foundation
import SignetCrypto
import SignetDataDirectory
import SignetJSON
import SignetStorage
import SignetTestKit
import Testing

import SignetServer

/// `openID` in `server.json`.
@Suite struct OpenIDSettingsTests: DataDirectorySuite {
  let parent: TemporaryFolder

  init() throws { parent = try TemporaryFolder() }

  @Test func readsTheAuthority() async throws {
    var settings = try Self.settings()
    settings.openIDAuthority = "clients.pem"
    let folder = try await DataDirectory.create(at: path, settings)
    #expect(folder.settings.openIDAuthority == "clients.pem")
    #expect(try ServerConfigurationFile(parsing: folder.settings.json.bytes) == folder.settings)
    // A missing file, or one without a certificate, is reported before the server runs.
    #expect(throws: DataDirectoryFailure.self) { try folder.serviceContext(log: .silent) }
    let file = URL(filePath: "\(path)/clients.pem")
    for (text, isValid) in [("no certificate", false), (try CertificateAuthority().certificatePEM, true)] {
      try Data(text.utf8).write(to: file)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
      guard isValid else {
        #expect(throws: DataDirectoryFailure.self) { try folder.serviceContext(log: .silent) }
        continue
      }
      let context = try folder.serviceContext(log: .silent)
      #expect(context.notices != nil)
      await context.storage.close()
    }
  }

  @Test(
    arguments: [
      ["authority": "a/b"], ["authority": ""], ["authority": 1], ["certificates": "a"],
    ] as [JSONObject]) func refuses(_ member: JSONObject) async throws
  {
    let folder = try await DataDirectory.create(at: path, try Self.settings())
    var object = folder.settings.json
    object["openID"] = .object(member)
    #expect(throws: ServerConfigurationFile.Refusal.self) {
      try ServerConfigurationFile(parsing: object.bytes)
    }
  }
}
