import Signet
import SignetTerminal

extension ServerURL {
  /// Does what talks to this server; where the network fails, says which server it was.
  ///
  /// - Throws: What the work throws, and `CommandFailure` in the place of a `TransportFailure`.
  func named<Value>(_ work: () async throws -> Value) async throws -> Value {
    do { return try await work() } catch { throw named(error) }
  }

  /// The failure, with the name of this server where the network failed.
  func named(_ error: any Error) -> any Error {
    guard case SignetFailure.transport(let failure) = error else { return error }
    let (text, subject) = (failure.description, "the server ")
    let name = "the server at \(host):\(port)"
    return CommandFailure(
      exitCode(of: failure),
      text.hasPrefix(subject) ? "\(name) \(text.dropFirst(subject.count))" : "\(name): \(text)")
  }
}
