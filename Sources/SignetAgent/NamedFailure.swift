import Signet

// The protocol's names for failures of a sensor or of a passcode check.

/// A failure whose cases have names in the protocol; one case has a detail.
protocol NamedFailure: Error, Equatable {
  /// The cases without a detail.
  static var protocolNames: [(protocolName: String, failure: Self)] { get }
  /// The case for a method that is not available, with the detail.
  static func unavailable(_ detail: String) -> Self
}

extension NamedFailure {
  /// The protocol's name; `unavailable` for the case with a detail.
  var protocolName: String { Self.protocolNames.first { $0.failure == self }?.protocolName ?? "unavailable" }

  /// Creates the failure with this name; `nil` if the name is unknown.
  init?(protocolName: String, detail: String) {
    if let match = Self.protocolNames.first(where: { $0.protocolName == protocolName }) {
      self = match.failure
    } else if protocolName == "unavailable" {
      self = .unavailable(detail)
    } else {
      return nil
    }
  }
}

extension BiometricFailure: NamedFailure {
  static var protocolNames: [(protocolName: String, failure: BiometricFailure)] {
    [
      ("cancelled", .cancelled), ("mismatch", .mismatch), ("lockedOut", .lockedOut), ("busy", .busy),
      ("timedOut", .timedOut), ("notCapable", .notCapable), ("notEnrolled", .notEnrolled),
      ("notAuthorized", .notAuthorized),
    ]
  }
}

extension DevicePasscodeFailure: NamedFailure {
  static var protocolNames: [(protocolName: String, failure: DevicePasscodeFailure)] {
    [
      ("cancelled", .cancelled), ("mismatch", .mismatch), ("lockedOut", .lockedOut), ("busy", .busy),
      ("timedOut", .timedOut), ("notCapable", .notCapable), ("accountRefused", .accountRefused),
      ("passcodeExpired", .passcodeExpired),
    ]
  }
}
