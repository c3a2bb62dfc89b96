import Signet

// The names that the protocol has for failures of a sensor or of a passcode's check.

/// A failure whose cases have names in the protocol, but for one with a detail.
protocol NamedFailure: Error, Equatable {
  /// The cases without a detail.
  static var named: [(word: String, failure: Self)] { get }
  /// The case that says what does not work.
  static func unavailable(_ detail: String) -> Self
}

extension NamedFailure {
  /// Its name; `unavailable` for what has a detail.
  var word: String { Self.named.first { $0.failure == self }?.word ?? "unavailable" }

  /// The failure of this name; `nil` if none has it.
  init?(word: String, detail: String) {
    if let known = Self.named.first(where: { $0.word == word }) {
      self = known.failure
    } else if word == "unavailable" {
      self = .unavailable(detail)
    } else {
      return nil
    }
  }
}

extension BiometricFailure: NamedFailure {
  static var named: [(word: String, failure: BiometricFailure)] {
    [
      ("cancelled", .cancelled), ("mismatch", .mismatch), ("lockedOut", .lockedOut), ("busy", .busy),
      ("timedOut", .timedOut), ("notCapable", .notCapable), ("notEnrolled", .notEnrolled),
      ("notAuthorized", .notAuthorized),
    ]
  }
}

extension DevicePasscodeFailure: NamedFailure {
  static var named: [(word: String, failure: DevicePasscodeFailure)] {
    [
      ("cancelled", .cancelled), ("mismatch", .mismatch), ("lockedOut", .lockedOut), ("busy", .busy),
      ("timedOut", .timedOut), ("notCapable", .notCapable), ("accountRefused", .accountRefused),
      ("passcodeExpired", .passcodeExpired),
    ]
  }
}
