/// Why something went wrong that the person may mend; the same is asked again.
@nonexhaustive public enum UAFRecoverableError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A new PIN does not have so many digits.
  case invalidFormat(minimumLength: Int, maximumLength: Int)
  /// The app's own rule refuses what is new.
  case refused(UAFCredentialRefusal)
  /// The present PIN or password is another.
  case wrongCredential
  /// What is new is what was there before.
  case oldEqualsNew
  /// A try came before the wait after wrong ones was over; it does not count.
  case coolingDown
  /// The sensor did not recognise the person, or the passcode of the device is another.
  case notRecognised

  /// What happened and what to do.
  public var description: String {
    switch self {
    case .invalidFormat(let least, let most):
      least == most ? "use \(least) digits" : "use \(least) to \(most) digits"
    case .refused(let refusal): refusal.message
    case .wrongCredential: "this is not the right one"
    case .oldEqualsNew: "the new one has to differ from the present one"
    case .coolingDown: "wait until the next try is allowed"
    case .notRecognised: "not recognised; try again"
    }
  }
}
