import Signet
import SignetTerminal

enum KeyChoice {
  static let option = Option.value(
    "key", "The key whose own password is meant; without it, the password of the container is meant",
    completion: .choices(Key.Usage.allCases.map(\.name.rawValue)))

  /// Returns the key that the command line names; `nil` for the container itself.
  ///
  /// - Parameters:
  ///   - arguments: The command line.
  ///   - container: The container of the key.
  /// - Returns: The key.
  /// - Throws: `CommandFailure` if the key has no password of its own: the command would change a shared password.
  static func key(_ arguments: Arguments, of container: Container) throws -> Key.Usage? {
    let name = arguments.optionalString("key")
    guard let key = Key.Usage.allCases.first(where: { $0.name.rawValue == name }) else { return nil }
    guard container.hasOwnProtection(key) else {
      throw CommandFailure(
        .dataError, "the \(ours: key) has no password of its own; signet policy explain says what opens it")
    }
    return key
  }
}

extension Container {
  /// Returns the name of a protected object for users: the container, or one of its keys with its own protection.
  func title(of key: Key.Usage?) -> String {
    guard let key, hasOwnProtection(key) else { return fullName }
    return "the \(key) of \(fullName)"
  }
}
