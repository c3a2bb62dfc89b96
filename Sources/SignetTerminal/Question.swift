/// Questions to the user at the controlling terminal, with visible answers.
package struct Question: Hashable, Sendable {
  private let path: String

  /// The controlling terminal of this process.
  package static let terminal = Question(at: "/dev/tty")

  /// Creates questions for a certain terminal.
  ///
  /// - Parameter path: A terminal device.
  package init(at path: String) { self.path = path }

  /// Asks for yes or no, at most three times; after another answer it names the accepted ones.
  ///
  /// - Parameters:
  ///   - question: Without the final question mark and space.
  ///   - preset: The meaning of an empty answer; `nil` asks again.
  /// - Returns: True for yes.
  /// - Throws: ``SecretInputFailure/noAnswer`` and the failures of ``line(_:)``.
  package func confirm(_ question: TerminalText, preset: Bool? = nil) async throws(SecretInputFailure) -> Bool
  {
    let choices =
      switch preset {
      case true?: "Y/n"
      case false?: "y/N"
      case nil: "y/n"
      }
    var hint: TerminalText = ""
    for _ in 0..<3 {
      switch try await line("\(hint)\(question)? [\(ours: choices)] ").lowercased() {
      case "y", "yes": return true
      case "n", "no": return false
      case "": if let preset { return preset }
      default: break
      }
      hint = "Answer y or n.\n"
    }
    throw .noAnswer
  }

  /// Reads a line of text without its newline and without surrounding spaces.
  ///
  /// - Parameter prompt: Written before the answer.
  /// - Returns: 0 to ``SecretInput/maximumByteCount`` bytes of text; not sanitised.
  /// - Throws: ``SecretInputFailure``.
  package func line(_ prompt: TerminalText) async throws(SecretInputFailure) -> String {
    let buffer = LineBuffer(capacity: SecretInput.maximumByteCount)
    defer { buffer.wipe() }
    try await LineReader.readTerminal(path, prompt, hasEcho: true, into: buffer)
    guard let text = buffer.text else { throw .notText }
    return String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }
}
