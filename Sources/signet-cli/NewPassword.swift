import Signet
import SignetTerminal

#if os(Linux)
  import SignetLinux
#endif

extension DeviceOptions {
  /// Reads a new password: shows the rules, at a terminal also the unmet ones, and lets the user retry.
  ///
  /// - Parameters:
  ///   - key: The key, if it has a password of its own; `nil` for the container.
  ///   - policy: The rules.
  ///   - lock: The consequence of wrong passwords.
  ///   - purpose: The purpose of the password.
  /// - Returns: The password, typed twice; from a descriptor, its content, which the vault validates.
  /// - Throws: `SecretInputFailure`, and the error of an unreadable dictionary.
  func newPassword(
    for key: Key.Usage? = nil, under policy: PasswordPolicy, _ lock: LockPolicy, _ purpose: PasswordPurpose
  ) async throws -> SharedSecretBox {
    let output = arguments.errorOutput
    let subject = key.map { " for the \($0)" } ?? ""
    output.print("Choose a password\(ours: subject): \(ours: policy.requirements.joined(separator: ", ")).")
    if purpose == .enrolment, lock != .none, lock != .silent {
      let protected = key?.description ?? "container"
      let costs = lock.sentences(
        lockedOut: "the \(protected) is locked; only a recovery code unlocks it",
        erased: "everything that the \(protected) protects is erased")
      output.print("\(ours: costs.joined(separator: " "))")
    }
    while true {
      let password = try await enteredPassword(
        "New password\(ours: subject): ", lock == .silent ? nil : .unmetRules(of: policy))
      // A script gets one attempt; a user may retry.
      if arguments.isSet("password-fd") { return password }
      let violations = try await policy.violations(of: password, purpose: purpose, checks: .platform)
      guard violations.isEmpty else {
        for violation in violations { output.print("Not allowed: \(violation).") }
        continue
      }
      let confirmation = try await enteredPassword("Repeat it: ")
      if password.withSecret({ first in confirmation.withSecret { $0.isEqual(to: first) } }) {
        return password
      }
      output.print("The two entries differ; try again.")
    }
  }

  private func enteredPassword(_ prompt: TerminalText, _ hint: PromptHint? = nil) async throws
    -> SharedSecretBox
  {
    try await answering(with: Self.passwordOption) {
      try await arguments.secretInput("password-fd").read(prompt, hint: hint) {
        SharedSecretBox(SecretBytes(copying: $0))
      }
    }
  }
}

extension PromptHint {
  /// Creates a hint about the unmet rules; it never shows the typed text.
  fileprivate static func unmetRules(of policy: PasswordPolicy) -> PromptHint {
    PromptHint { typed in
      let violations = SecretBytes(copying: typed).withTemporaryArray { policy.violations(ofUTF8: $0) }
      if violations.isEmpty { return "These rules are met." }
      return "Still: \(violations.map(\.description).joined(separator: "; "))."
    }
  }
}

extension PasswordChecks {
  /// The checks of new passwords in this program: the dictionary of the platform, if it has one.
  static var platform: PasswordChecks {
    #if os(Linux)
      .linux
    #else
      PasswordChecks()
    #endif
  }
}
