import SignetJSON
import SignetPolicy
import SignetProtocol
import SignetTerminal

enum PolicyOptions {
  static let all: [Option] = [
    .value(
      "policy",
      "The whole policy: a policy string, quoted for the shell ('NUM=6;MINLEN=6;…'), or the name of a profile: \(PolicyProfile.names)",
      named: "policy", completion: profiles),
    .value(
      "policy-file", "A file with the whole policy: a policy string or JSON", named: "file", completion: .file
    ),
  ]

  /// The options that give a key its own protection, and so its own password.
  static let ofKeys: [Option] = keys.flatMap { key, name -> [Option] in
    [
      .value(
        "\(key.rawValue)-policy",
        "A policy of its own for the \(name), in place of \(key == .session ? "the device alone" : "the container's")",
        named: "policy", completion: profiles),
      .value(
        "\(key.rawValue)-policy-file", "A file with the policy of the \(name)", named: "file",
        completion: .file),
    ]
  }

  private static let profiles = ShellCompletion.words(PolicyProfile.allCases.map(\.rawValue))

  static let keys: [(ContainerProfile.KeyName, name: String)] = [
    (.signing, "signing key"), (.otp, "one-time password key"), (.session, "session key"),
  ]

  /// The options for parts of a policy, which exclude a whole policy.
  private static var parts: [String] { PasswordOptions.all.map(\.name) + ["protection", "attempts"] }

  /// Returns the whole policy, if one is given.
  ///
  /// - Parameter arguments: The command line; warnings go to its error output.
  /// - Returns: The policy; `nil` if its parts are given.
  /// - Throws: `UsageFailure` with every error that the linter finds, `CommandFailure` for an unreadable file.
  static func policy(_ arguments: Arguments) throws -> ProtectionPolicy? {
    guard let (option, policy) = try policy("policy", arguments) else { return nil }
    for part in parts where arguments.count(part) > 0 {
      throw UsageFailure.refused(
        "--\(ours: part) goes without --\(ours: option), which sets the whole policy")
    }
    return policy
  }

  /// Returns the policies of keys with their own protection.
  ///
  /// - Parameter arguments: The command line; warnings go to its error output.
  /// - Returns: The policies.
  /// - Throws: The errors of ``policy(_:)``.
  static func keyPolicies(_ arguments: Arguments) throws -> [ContainerProfile.KeyName: ProtectionPolicy] {
    var policies: [ContainerProfile.KeyName: ProtectionPolicy] = [:]
    for (key, _) in keys {
      guard let (option, policy) = try policy("\(key.rawValue)-policy", arguments) else { continue }
      if let objection = ContainerProfile.objection(to: policy, of: key) {
        throw UsageFailure.refused("--\(ours: option): the key \(objection)")
      }
      policies[key] = policy
    }
    return policies
  }

  private static func policy(
    _ name: String, _ arguments: Arguments
  ) throws -> (option: String, policy: ProtectionPolicy)? {
    let options = [name, "\(name)-file"].filter { arguments.count($0) > 0 }
    guard let option = options.first else { return nil }
    guard options.count == 1 else {
      throw UsageFailure.refused("--\(ours: name) goes without --\(ours: name)-file")
    }
    let value = arguments.string(option)
    if option == name, let profile = PolicyProfile(rawValue: value) { return (option, profile.policy) }
    guard option != name || PolicyReview.isPolicy(value) else {
      throw UsageFailure.refused(
        "--\(ours: option): \"\(value)\" is neither a policy string nor a profile; the profiles are \(ours: PolicyProfile.names)"
      )
    }
    let review = PolicyReview(text: option == name ? value : try text(value))
    for finding in review.findings where finding.severity == .warning {
      let subject = name == "policy" ? "" : "--\(option): "
      arguments.errorOutput.print(
        "warning: \(subject)\(finding.description, limit: 1000)")
    }
    let errors = review.findings.filter { $0.severity == .error }
    guard let policy = review.policy else {
      let reasons = errors.isEmpty ? ["it lacks a type"] : errors.map(\.description)
      throw UsageFailure.refused("--\(ours: option): \(reasons.joined(separator: "; "))")
    }
    switch policy {
    case .biometric, .devicePasscode:
      throw UsageFailure.refused(
        "--\(ours: option): a container is opened by the device, or with a password; use another type")
    default: break
    }
    return (option, policy)
  }

  private static func text(_ path: String) throws -> String {
    let text = try InputFile.text(of: path, limit: 65_536)
    guard !text.isEmpty else { throw CommandFailure(.dataError, "\(path) is not a policy: it is empty") }
    return text
  }
}

/// The options of `init` for the password rules; named as in `docs/protocol.md` section 3.4.
enum PasswordOptions {
  static let all = PasswordPolicy.options.map { option, _, range in
    range == nil
      ? Option.flag(option.name, option.help)
      : .value(option.name, option.help, named: "n", default: option.standard.map(String.init))
  }

  static func policy(_ arguments: Arguments) throws -> PasswordPolicy {
    var rules = JSONObject()
    for (option, rule, range) in PasswordPolicy.options {
      if let range {
        rules[rule] = try arguments.optionalInteger(option.name, in: range).map { .integer(Int64($0)) }
      } else {
        rules[rule] = .bool(arguments.isSet(option.name))
      }
    }
    do { return try PasswordPolicy(rules) } catch {
      throw UsageFailure.refused(TerminalText(error.description))
    }
  }
}
