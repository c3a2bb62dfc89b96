import Glibc
import SignetDBus
import SignetText
import SignetVault

extension BiometricFailure {
  /// What a failure on the bus means for a match.
  init(_ failure: BusFailure) {
    switch failure {
    case .connectionFailed(ENOENT): self = .notCapable
    case .interrupted: self = .cancelled
    case .refused(let name, let message): self.init(error: name, message: message)
    case .connectionFailed, .connectionLost, .timedOut, .malformed: self = .unavailable(failure.description)
    }
  }

  /// What an error of fprintd means.
  private init(error: String, message: String) {
    switch error {
    // A reader that is taken away between fprintd's list and the call has no object any more.
    case "net.reactivated.Fprint.Error.NoSuchDevice", "org.freedesktop.DBus.Error.UnknownObject",
      "org.freedesktop.DBus.Error.UnknownMethod":
      self = .notCapable
    case "net.reactivated.Fprint.Error.NoEnrolledPrints": self = .notEnrolled
    case "net.reactivated.Fprint.Error.AlreadyInUse": self = .busy
    case "net.reactivated.Fprint.Error.PermissionDenied", "org.freedesktop.DBus.Error.AccessDenied":
      self = .notAuthorized
    default: self = .unavailable(TerminalText.sanitised("\(error): \(message)", limit: 200))
    }
  }
}
