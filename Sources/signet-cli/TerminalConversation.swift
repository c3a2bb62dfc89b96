import Signet
import SignetTerminal
import Synchronization

/// The prompts of the device's own passcode check, at the terminal.
final class TerminalConversation: PasscodeConversation {
  private let output: Terminal
  private let lastError = Mutex<(any Error)?>(nil)

  init(output: Terminal) { self.output = output }

  /// The error if nothing could be read.
  var failure: (any Error)? { lastError.withLock { $0 } }

  func answer(_ prompt: PasscodePrompt) async -> SecretBytes? {
    do {
      if prompt.echoes {
        let line = try await Question.terminal.line("\(prompt.text)")
        return line.isEmpty ? nil : SecretBytes(copying: Array(line.utf8))
      }
      let answer = try await SecretInput.terminal.read("\(prompt.text)") { SecretBytes(copying: $0) }
      if answer.byteCount == 0 { return nil }
      return answer
    } catch {
      lastError.withLock { $0 = error }
      return nil
    }
  }

  func show(_ message: PasscodeMessage) async { output.print("\(message.text)") }
}
