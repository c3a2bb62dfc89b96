import Signet

// The names that the protocol has for failures of a sensor or of a passcode's check.

extension BiometricFailure {
  private static let named: [(String, BiometricFailure)] = [
    ("cancelled", .cancelled), ("mismatch", .mismatch), ("lockedOut", .lockedOut), ("busy", .busy),
    ("timedOut", .timedOut), ("notCapable", .notCapable), ("notEnrolled", .notEnrolled),
    ("notAuthorized", .notAuthorized),
  ]

  /// Its name; `unavailable` for what has a detail.
  var word: String { Self.named.first { $0.1 == self }?.0 ?? "unavailable" }

  /// The failure of this name; `nil` if none has it.
  init?(word: String, detail: String) {
    if let known = Self.named.first(where: { $0.0 == word }) {
      self = known.1
    } else if word == "unavailable" {
      self = .unavailable(detail)
    } else {
      return nil
    }
  }
}

extension DevicePasscodeFailure {
  private static let named: [(String, DevicePasscodeFailure)] = [
    ("cancelled", .cancelled), ("mismatch", .mismatch), ("lockedOut", .lockedOut), ("busy", .busy),
    ("timedOut", .timedOut), ("notCapable", .notCapable), ("accountRefused", .accountRefused),
    ("passcodeExpired", .passcodeExpired),
  ]

  /// Its name; `unavailable` for what has a detail.
  var word: String { Self.named.first { $0.1 == self }?.0 ?? "unavailable" }

  /// The failure of this name; `nil` if none has it.
  init?(word: String, detail: String) {
    if let known = Self.named.first(where: { $0.0 == word }) {
      self = known.1
    } else if word == "unavailable" {
      self = .unavailable(detail)
    } else {
      return nil
    }
  }
}
