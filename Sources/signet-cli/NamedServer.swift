import Signet
import SignetTerminal

extension ServerURL {
  /// Runs a request to this server for a container; a network failure names the server.
  ///
  /// - Throws: The error of the work, and `CommandFailure` instead of a `TransportFailure`.
  func named<Value>(_ work: () async throws -> Value) async throws -> Value {
    do { return try await work() } catch { throw named(error) }
  }

  /// Returns the failure with the server's name if the network failed, and with the remedy if the container does not trust
  /// the server.
  func named(_ error: any Error) -> any Error {
    guard case SignetError.transport(let failure) = error else { return error }
    let name: TerminalText = "the server at \(host):\(port)"
    if let distrust = failure.distrust {
      let advice: TerminalText =
        "get ca.pem and the pin from the operator, then: \(command: "signet trust ca.pem --pin PIN")"
      return CommandFailure(exitCode(of: failure), "\(name): \(ours: distrust); \(advice)")
    }
    let (text, subject) = (failure.description, "the server ")
    return CommandFailure(
      exitCode(of: failure),
      text.hasPrefix(subject)
        ? "\(name) \(ours: text.dropFirst(subject.count))" : "\(name): \(ours: text)")
  }
}

extension TransportFailure {
  /// Why the device does not trust the server; `nil` for another failure.
  fileprivate var distrust: String? {
    switch self {
    case .certificateRefused(.unknownIssuer):
      "the server's certificate was refused: its issuer is not trusted"
    case .wrongPin:
      "the server's key is not one of the pinned keys: it was changed, or somebody intercepts the connection"
    default: nil
    }
  }
}
