/// A failure after which the operation asks the user the same question again.
@nonexhaustive public enum UAFRecoverableError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A new PIN does not consist of the allowed number of digits.
  case invalidFormat(minimumLength: Int, maximumLength: Int)
  /// The app's own rule rejects the new PIN or password.
  case refused(UAFCredentialRefusal)
  /// The current PIN or password is wrong.
  case wrongCredential
  /// The new PIN or password equals the current one.
  case oldEqualsNew
  /// The attempt came before the wait after failed attempts ended; it does not count.
  case coolingDown
  /// The sensor did not recognize the user, or the device passcode is wrong.
  case notRecognised

  /// The failure and the remedy, for display to the user.
  public var description: String {
    switch self {
    case .invalidFormat(let minimum, let maximum):
      minimum == maximum ? "use \(minimum) digits" : "use \(minimum) to \(maximum) digits"
    case .refused(let refusal): refusal.message
    case .wrongCredential: "the PIN or password is wrong"
    case .oldEqualsNew: "the new PIN or password must differ from the current one"
    case .coolingDown: "wait until the next try is allowed"
    case .notRecognised: "not recognised; try again"
    }
  }
}
