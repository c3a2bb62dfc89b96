package import SignetJSON

/// `appIsUpToDate`: the app has at least this version, `{"minimumVersion": "2.10"}`.
package struct AppIsUpToDatePolicy: ImmediateAccountPolicy {
  package let name = "appIsUpToDate"
  package let parameterNames = ["minimumVersion"]
  package init() {}

  /// Requires a valid `minimumVersion`.
  package func check(_ parameters: AccountPolicyParameters) throws(AccountPolicyFailure) {
    _ = try minimum(parameters)
  }

  private func minimum(_ parameters: AccountPolicyParameters) throws(AccountPolicyFailure) -> SoftwareVersion
  {
    guard let minimum = try parameters.version("minimumVersion", in: parameters.object()) else {
      throw parameters.failure("minimumVersion", "is missing; use a version such as \"2.10\"")
    }
    return minimum
  }

  package func verdict(
    _ evidence: AccountEvidence, _ parameters: AccountPolicyParameters
  ) throws(AccountPolicyFailure) -> AccountPolicyVerdict {
    let minimum = try minimum(parameters)
    guard let version = evidence.appVersion.flatMap(SoftwareVersion.init) else {
      return .indeterminate(reason: "the version of the app is unknown")
    }
    guard version < minimum else { return .compliant }
    return .breached(
      reason: "the app is of version \(version); update it to \(minimum) or later",
      evidence: ["appVersion": .string(version.description), "minimumVersion": .string(minimum.description)])
  }
}

/// `osVersion`: the version of the operating system is within a range, given for each system: `{"linux": {"minimum": "6.1"},
/// "ios": {"minimum": "17", "maximum": "26.99"}}`.
///
/// Systems without a range may have any version.
package struct OSVersionPolicy: ImmediateAccountPolicy {
  package let name = "osVersion"
  /// The values of ``AccountEvidence/osName`` on the systems that have an app.
  package let parameterNames = ["linux", "ios", "macos"]
  package init() {}

  package func unknownParameters(_ parameters: JSONObject) -> [UnknownParameter] {
    let ranges = parameters.members.flatMap { system -> [UnknownParameter] in
      guard case .object(let range) = system.value else { return [] }
      return UnknownParameter.all(
        in: range, of: "\(name).\(AccountPolicySet.shown(system.name))", known: ["minimum", "maximum"])
    }
    return UnknownParameter.all(in: parameters, of: name, known: parameterNames) + ranges
  }

  /// Requires lower-case system names, each with `minimum`, `maximum`, or both, and the minimum not above the maximum.
  package func check(_ parameters: AccountPolicyParameters) throws(AccountPolicyFailure) {
    let systems = try parameters.object()
    guard !systems.isEmpty else {
      throw parameters.failure(
        "", "names no system; use an object such as {\"linux\": {\"minimum\": \"6.1\"}}")
    }
    for (system, _) in systems.members {
      // The name must match ``AccountEvidence/osName`` exactly: another spelling would never match.
      guard system.utf8.allSatisfy({ 0x61...0x7A ~= $0 || 0x30...0x39 ~= $0 }), !system.isEmpty else {
        throw parameters.failure(
          AccountPolicySet.shown(system),
          "is not the name of a system; use lower case, such as linux, ios or macos")
      }
      _ = try range(for: system, parameters)
    }
  }

  private func range(
    for system: String, _ parameters: AccountPolicyParameters
  ) throws(AccountPolicyFailure) -> (minimum: SoftwareVersion?, maximum: SoftwareVersion?)? {
    guard let value = try parameters.object()[system] else { return nil }
    guard case .object(let range) = value else {
      throw parameters.failure(
        AccountPolicySet.shown(system), "is not an object with minimum, maximum, or both")
    }
    let minimum: SoftwareVersion?
    let maximum: SoftwareVersion?
    do throws(AccountPolicyFailure) {
      minimum = try parameters.version("minimum", in: range)
      maximum = try parameters.version("maximum", in: range)
    } catch {
      guard case .invalidParameter(_, let parameter, let reason) = error else { throw error }
      throw parameters.failure("\(AccountPolicySet.shown(system)).\(parameter)", reason)
    }
    guard minimum != nil || maximum != nil else {
      throw parameters.failure(AccountPolicySet.shown(system), "has neither minimum nor maximum; use one")
    }
    if let minimum, let maximum, maximum < minimum {
      throw parameters.failure(
        AccountPolicySet.shown(system), "has a maximum below its minimum; correct one of them")
    }
    return (minimum, maximum)
  }

  package func verdict(
    _ evidence: AccountEvidence, _ parameters: AccountPolicyParameters
  ) throws(AccountPolicyFailure) -> AccountPolicyVerdict {
    guard let system = evidence.osName else {
      return .indeterminate(reason: "the operating system is unknown")
    }
    guard let (minimum, maximum) = try range(for: system, parameters) else { return .compliant }
    guard let version = evidence.osVersion.flatMap(SoftwareVersion.init) else {
      return .indeterminate(reason: "the version of the operating system is unknown")
    }
    var details: JSONObject = ["osName": .string(system), "osVersion": .string(version.description)]
    if let minimum, version < minimum {
      details["minimum"] = .string(minimum.description)
      return .breached(
        reason: "the operating system is of version \(version); update it to \(minimum) or later",
        evidence: details)
    }
    if let maximum, version > maximum {
      details["maximum"] = .string(maximum.description)
      return .breached(
        reason: "the operating system is of version \(version); \(maximum) is the last one that is allowed",
        evidence: details)
    }
    return .compliant
  }
}
