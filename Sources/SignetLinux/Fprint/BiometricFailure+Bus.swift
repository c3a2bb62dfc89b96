import Glibc
import SignetSystem
import SignetVault

extension BiometricFailure {
  init(_ failure: BusFailure) {
    switch failure {
    case .connectionFailed(ENOENT): self = .notCapable
    case .interrupted: self = .cancelled
    case .refused(let name, let message): self.init(error: name, message: message)
    case .connectionFailed, .connectionLost, .timedOut, .malformed: self = .unavailable(failure.description)
    }
  }

  /// Translates an error of fprintd.
  private init(error: String, message: String) {
    switch error {
    // If a reader is removed between fprintd's list and the call, its object no longer exists.
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
