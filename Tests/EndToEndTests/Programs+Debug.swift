import SignetTestKit

extension Programs {
  /// Indicates whether the programs are those of `make test BUILD=debug`.
  ///
  /// These leave copies of secrets that an optimizer avoids, and do not compare their own code.
  static var areDebug: Bool {
    #if DEBUG
      true
    #else
      false
    #endif
  }
}
