import BusFixture
import Foundation
import SignetLinux
import SignetTestKit
import SignetVault

/// The product's check with PAM services in a private folder.
final class PAMFixture: DevicePasscode {
  static let isPossible = PAMServiceFolder.isPossible
  static let answer = PAMServiceFolder.answer

  let folder: TemporaryFolder
  private let passcode: PAMPasscode

  /// Writes the file of a service, as ``PAMServiceFolder`` does; the used service is always `signet`.
  init(
    _ lines: String..., name: String = "signet", timeLimit: Duration = .seconds(3_600), words: Data = Data()
  ) throws {
    folder = try PAMServiceFolder(lines, name: name, words: words).folder
    passcode = PAMPasscode(service: "signet", folder: folder.path, timeLimit: timeLimit)
  }

  func state() async -> DevicePasscodeState { await passcode.state() }

  func verify(
    _ reason: String, conversation: any PasscodeConversation
  ) async throws(DevicePasscodeFailure) { try await passcode.verify(reason, conversation: conversation) }
}
