import Foundation
import SignetPAM
import SignetTesting
import SignetVault

/// Services of PAM in a folder of the test's own, with the modules of the system and of libpam-wrapper.
final class PAMFixture: DevicePasscode {
  /// The modules of libpam-wrapper: a multiarch folder.
  private static let wrapper: String? = {
    let folder = "/usr/lib"
    // Where there are none the tests say so.
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return (names.map { "\(folder)/\($0)" } + [folder]).map { "\($0)/pam_wrapper" }
      .first { FileManager.default.fileExists(atPath: "\($0)/pam_matrix.so") }
  }()

  static let isPossible = wrapper != nil || ProcessInfo.processInfo.environment["CI"] == "true"
  static let answer = "right passcode"

  let folder: TemporaryFolder
  private let passcode: PAMPasscode

  /// Writes the file of a service.
  ///
  /// - Parameters:
  ///   - lines: Its lines; `MATRIX` and `CHATTY` stand for the modules, `FOLDER` for ``folder``. The database of `MATRIX` has the
  ///     user and ``answer`` in it.
  ///   - name: The name of the file; the service that is used is always `signet`.
  ///   - timeLimit: As of `PAMPasscode`.
  ///   - words: What is in the file `words`.
  /// - Throws: What the file system says.
  init(
    _ lines: String..., name: String = "signet", timeLimit: Duration = .seconds(60), words: Data = Data()
  ) throws {
    folder = try TemporaryFolder()
    let database = folder.file("passdb")
    try Data("\(NSUserName()):\(Self.answer):\(name)\n".utf8).write(to: URL(filePath: database))
    try words.write(to: URL(filePath: folder.file("words")))
    let text = [String](lines).map { [folder] line in
      line.replacing("MATRIX", with: "\(Self.wrapper ?? "")/pam_matrix.so passdb=\(database)")
        .replacing("CHATTY", with: "\(Self.wrapper ?? "")/pam_chatty.so").replacing(
          "FOLDER", with: folder.path)
    }
    try Data((text.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: folder.file(name)))
    passcode = PAMPasscode(service: "signet", folder: folder.path, timeLimit: timeLimit)
  }

  func state() async -> DevicePasscodeState { await passcode.state() }

  func verify(
    _ reason: String, conversation: any PasscodeConversation
  ) async throws(DevicePasscodeFailure) { try await passcode.verify(reason, conversation: conversation) }
}
