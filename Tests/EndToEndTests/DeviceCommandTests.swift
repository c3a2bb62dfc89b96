import Foundation
import SignetTesting
import Testing

@Suite("signet, at the first steps")
struct DeviceCommandTests {
  /// The built `signet`, which lies beside `signet-server`.
  private func run(_ words: String..., environment: [String: String] = [:]) async throws
    -> ServerCommand.Result
  {
    let process = try ServerCommand.process(words, environment)
    process.executableURL = URL(filePath: try ServerCommand.executable())
      .deletingLastPathComponent().appending(path: "signet")
    return try await ServerCommand.finish(process)
  }

  @Test("A folder without a device names the way to one")
  func nothingActivated() async throws {
    let folder = try TemporaryFolder()
    for (path, finding) in [
      ("\(folder.path)/none", "there is no folder \(folder.path)/none;"),
      (folder.path, "\(folder.path) holds no vault;"),
    ] {
      let result = try await run("--data", path, "otp")
      #expect(result.status == 73)
      #expect(result.output.isEmpty)
      #expect(result.errorOutput.contains(finding), "\(result.errorOutput)")
      #expect(result.errorOutput.contains("signet activate --qr FILE"), "\(result.errorOutput)")
    }
  }

  @Test("The data folder is below HOME")
  func home() async throws {
    let folder = try TemporaryFolder()
    let result = try await run("list", environment: ["HOME": folder.path, "XDG_DATA_HOME": ""])
    #expect(
      result.errorOutput.contains("no folder \(folder.path)/.local/share/signet;"), "\(result.errorOutput)")
  }

  @Test("A descriptor that nobody opened is refused before the vault's files get its number")
  func closedDescriptor() async throws {
    let folder = try TemporaryFolder()
    let result = try await run("--data", folder.path, "otp", "--password-fd", "3")
    #expect(result.status == 64)
    #expect(result.errorOutput.contains("file descriptor 3 is not open"), "\(result.errorOutput)")
  }

  @Test("A picture that is not there is named")
  func missingPicture() async throws {
    let folder = try TemporaryFolder()
    let result = try await run(
      "--data", "\(folder.path)/laptop", "activate", "--qr", "\(folder.path)/none.png")
    #expect(result.status == 66)
    #expect(result.errorOutput.contains("\(folder.path)/none.png cannot be read"), "\(result.errorOutput)")
  }
}
