import Foundation
import SignetTestKit
import Testing

/// Every command reports a missing file with the same words and exit status.
@Suite(.timeLimit(.minutes(10))) struct MissingFileTests {
  @Test("signet, and signet-server, name the file and the system's reason")
  func missing() async throws {
    let folder = try TemporaryFolder()
    let device = InstalledSignet(data: "\(folder.path)/device")
    let none = folder.file("none")
    let message = ": \(none) cannot be read: No such file or directory"
    let empty = folder.file("empty")
    try Data().write(to: URL(filePath: empty))
    for words in [
      ["activate", "--qr", none], ["activate", "--code-file", none], ["import", none], ["scan", none],
      ["approve", "--qr", none], ["approve", "--offline", none], ["policy", "lint", none],
      ["message", "receive", none], ["uaf", "oob", "run", none],
      ["data", "encrypt", "--label", "x", none, folder.file("out")],
      ["import", empty, "--transport-key", none],
    ] {
      let result = try await device.run(words)
      #expect(result.isRefusal(66, message), "\(words): \(result.summary)")
    }
    for words in [
      ["transaction", "verify", none], ["uaf", "verify", none], ["token", "import", none],
      ["token", "import", empty, "--transport-key", none],
      ["token", "import", empty, "--transport-password", none],
      ["init", "--data", folder.file("new"), "--url", "localhost/x", "--policy-file", none],
      ["user", "list", "--server", "localhost/x", "--key-file", none],
      ["user", "list", "--server", "localhost/x", "--ca", none, "--key-file", none],
    ] {
      let result = try await ServerCommand.run(words)
      #expect(result.isRefusal(66, message), "\(words): \(result.summary)")
    }
    let folderItself = try await device.run("import", folder.path)
    #expect(folderItself.isRefusal(66, "\(folder.path) cannot be read: Is a directory"), folderItself.summary)
    #expect(!FileManager.default.fileExists(atPath: device.data))
  }
}
