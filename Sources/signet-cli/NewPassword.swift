import Signet
import SignetTerminal

extension DeviceOptions {
  /// A password that is made: the rules are shown, at a terminal also which are still unmet, and a person may try again.
  ///
  /// - Parameters:
  ///   - key: The key that it is for, where it has its own; `nil` for the container.
  ///   - policy: The rules.
  ///   - lock: What wrong passwords will cost.
  ///   - purpose: What it is for.
  /// - Returns: What was typed, twice; from a descriptor, whatever it holds, which is the vault's to refuse.
  /// - Throws: `SecretInputFailure`, and where the dictionary cannot be read.
  func newPassword(
    for key: Key.Usage? = nil, under policy: PasswordPolicy, _ lock: LockPolicy, _ purpose: PasswordPurpose
  ) async throws -> SharedSecretBox {
    let output = arguments.errorOutput
    let subject = key.map { " for the \($0)" } ?? ""
    output.print("Choose a password\(subject): \(policy.requirements.joined(separator: ", ")).")
    if purpose == .enrolment, let limit = lock.limit {
      output.print(
        "After \(limit) wrong passwords in a row the \(key?.description ?? "container") is locked for good.")
    }
    while true {
      let password: SharedSecretBox
      do {
        password = try await typedTwice(subject, lock == .silent ? nil : .unmetRules(of: policy))
      } catch SecretInputFailure.mismatch {
        output.print("The two entries differ; try again.")
        continue
      }
      let violations = try await policy.violations(of: password, purpose: purpose)
      // A script gets its answer once; a person may try again.
      if violations.isEmpty || arguments.isSet("password-fd") { return password }
      for violation in violations { output.print("Not allowed: \(violation).") }
    }
  }

  private func typedTwice(_ subject: String, _ note: PromptNote?) async throws -> SharedSecretBox {
    try await answering(with: Self.passwordOption) {
      try await arguments.secretInput("password-fd").readNew(
        "New password\(subject): ", repeating: "Repeat it: ", note: note
      ) { SharedSecretBox(SecretBytes(copying: $0)) }
    }
  }
}

extension PromptNote {
  /// Says which rules what is typed does not meet yet; of what is typed, nothing.
  fileprivate static func unmetRules(of policy: PasswordPolicy) -> PromptNote {
    PromptNote { typed in
      let violations = SecretBytes(copying: typed).withTemporaryArray { policy.violations(ofUTF8: $0) }
      if violations.isEmpty { return "These rules are met." }
      return "Still: \(violations.map(\.description).joined(separator: "; "))."
    }
  }
}
