/// Questions to the person at the controlling terminal, with visible answers.
public struct Question: Hashable, Sendable {
  private let path: String

  /// Asks at the terminal that controls this process.
  public static let terminal = Question(at: "/dev/tty")

  /// Asks at a certain terminal.
  ///
  /// - Parameter path: A terminal device.
  public init(at path: String) { self.path = path }

  /// Asks until yes or no is answered, at most three times; after another answer it says which are taken.
  ///
  /// - Parameters:
  ///   - question: Without the final question mark and space.
  ///   - preset: What an empty answer means; nil asks again.
  /// - Returns: True for yes.
  /// - Throws: ``SecretInputFailure/noAnswer`` and what ``line(_:)`` throws.
  public func confirm(_ question: TerminalText, preset: Bool? = nil) async throws(SecretInputFailure) -> Bool
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

  /// Reads a line of text without its newline and without spaces around it.
  ///
  /// - Parameter prompt: Written before it.
  /// - Returns: 0 to ``SecretInput/maximumByteCount`` bytes of text; not sanitised.
  /// - Throws: ``SecretInputFailure``.
  public func line(_ prompt: TerminalText) async throws(SecretInputFailure) -> String {
    let buffer = LineBuffer(capacity: SecretInput.maximumByteCount)
    defer { buffer.wipe() }
    try await LineReader.readTerminal(path, prompt, hasEcho: true, into: buffer)
    guard let text = buffer.text else { throw .notText }
    return String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }
}
