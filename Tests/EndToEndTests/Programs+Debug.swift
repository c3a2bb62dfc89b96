import SignetTestKit

extension Programs {
  /// Whether they are of `make test BUILD=debug`: such programs leave copies of secrets that an optimiser does not make, and do not
  /// compare their own code.
  static var areDebug: Bool {
    #if DEBUG
      true
    #else
      false
    #endif
  }
}
