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
    output.print("Choose a password\(ours: subject): \(ours: policy.requirements.joined(separator: ", ")).")
    if purpose == .enrolment, lock != .none, lock != .silent {
      let protected = key?.description ?? "container"
      let costs = lock.sentences(
        lockedOut: "the \(protected) is locked for good",
        erased: "everything that the \(protected) protects is erased")
      output.print("\(ours: costs.joined(separator: " "))")
    }
    while true {
      let password = try await typed(
        "New password\(ours: subject): ", lock == .silent ? nil : .unmetRules(of: policy))
      // A script gets its answer once; a person may try again.
      if arguments.isSet("password-fd") { return password }
      let violations = try await policy.violations(of: password, purpose: purpose)
      guard violations.isEmpty else {
        for violation in violations { output.print("Not allowed: \(violation).") }
        continue
      }
      let repeated = try await typed("Repeat it: ")
      if password.withSecret({ first in repeated.withSecret { $0.isEqual(to: first) } }) { return password }
      output.print("The two entries differ; try again.")
    }
  }

  private func typed(_ prompt: TerminalText, _ note: PromptNote? = nil) async throws -> SharedSecretBox {
    try await answering(with: Self.passwordOption) {
      try await arguments.secretInput("password-fd").read(prompt, note: note) {
        SharedSecretBox(SecretBytes(copying: $0))
      }
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
