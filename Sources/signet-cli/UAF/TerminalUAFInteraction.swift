import Signet
import SignetTerminal
import SignetUAFClient
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Asks the user at the terminal, or a script on its descriptor, for the input of UAF operations.
final class TerminalUAFInteraction: UAFInteraction {
  private let arguments: Arguments
  private let lastError = Mutex<(any Error)?>(nil)
  private let shown = Mutex(false)

  private let authenticator: String?
  private let user: String?
  private let picture: String?

  /// Creates an interaction.
  ///
  /// - Parameters:
  ///   - arguments: The command line.
  ///   - authenticator: The preselected authenticator: a kind or an AAID.
  ///   - user: The preselected user.
  ///   - picture: The file for a picture to confirm.
  init(_ arguments: Arguments, authenticator: String? = nil, user: String? = nil, picture: String? = nil) {
    self.arguments = arguments
    self.authenticator = authenticator
    self.user = user
    self.picture = picture
  }

  /// The error if no input could be read.
  var failure: (any Error)? { lastError.withLock { $0 } }

  private var output: Terminal { arguments.errorOutput }

  private var isScript: Bool { arguments.isSet("password-fd") }

  // MARK: Choosing

  func selectAccount(_ question: UAFAccountSelection, answer: UAFAnswer<String>) async {
    await settle(answer) {
      try self.show(question.transaction)
      if let user = self.user { return user }
      let names = question.accounts.map(\.username)
      return try await self.choice(names, "Which user", option: "--user").map { names[$0] } ?? ""
    }
  }

  func selectAuthenticator(_ question: UAFAuthenticatorSelection, answer: UAFAnswer<String>) async {
    await settle(answer) {
      try self.show(question.transaction)
      if let selector = self.authenticator {
        guard
          let choice = question.choices.first(where: {
            $0.authenticator.kind.rawValue == selector
              || $0.authenticator.aaid.lowercased() == selector.lowercased()
          })
        else {
          throw CommandFailure(
            .dataError,
            "this device has no such authenticator: \(selector); signet uaf list shows those that it has")
        }
        if let obstacle = choice.obstacle {
          throw CommandFailure(.dataError, "\(ours: choice.authenticator.title): \(obstacle)")
        }
        return choice.authenticator.aaid
      }
      for choice in question.choices {
        if let obstacle = choice.obstacle {
          self.output.print("  – \(choice.authenticator.title): \(obstacle)")
        }
      }
      let usable = question.choices.filter { $0.obstacle == nil }.map(\.authenticator)
      // The operation reports that no authenticator is suitable.
      guard !usable.isEmpty else { return "" }
      return try await self.choice(
        usable.map(\.title), "Which authenticator", option: "--authenticator"
      ).map { usable[$0].aaid }
    }
  }

  /// Asks for one of several by its number; returns the only one without asking.
  private func choice(_ names: [String], _ question: TerminalText, option: String) async throws -> Int? {
    if names.count <= 1 { return names.isEmpty ? nil : 0 }
    for (index, name) in names.enumerated() {
      output.print("  \(index + 1) \(name, limit: 200)")
    }
    return try await answering(with: option) {
      for _ in 0..<3 {
        let line = try await Question.terminal.line("\(question)? [1-\(names.count)] ")
        if line.isEmpty { return nil }
        if let number = Int(line), (1...names.count).contains(number) { return number - 1 }
      }
      throw SecretInputFailure.noAnswer
    }
  }

  // MARK: Showing

  /// Shows the content to confirm, once.
  private func show(_ transaction: UAFTransactionContent?) throws {
    guard let transaction,
      shown.withLock({ shown in
        defer { shown = true }
        return !shown
      })
    else { return }
    if let text = transaction.text {
      output.print("You are about to confirm:")
      var block = TerminalBlock(on: output)
      block.text(text)
      output.print(block.text)
      return
    }
    guard let path = picture else {
      throw CommandFailure(
        .usage, "the transaction is a picture; name a file for it with --picture, and look at it")
    }
    do { try Data(transaction.bytes).write(to: URL(fileURLWithPath: path)) } catch {
      throw CommandFailure(.cannotCreate, "\(path) cannot be written")
    }
    output.print("You are about to confirm what the picture \(path) shows; look at it now.")
  }

  // MARK: Secrets

  func enrol(_ question: UAFCredentialRequest, answer: UAFAnswer<SharedSecretBox>) async {
    await settle(answer) {
      try self.showError(question)
      return try await self.newSecret(question.authenticator)
    }
  }

  func verify(_ question: UAFCredentialRequest, answer: UAFAnswer<SharedSecretBox>) async {
    await settle(answer) {
      try self.show(question.transaction)
      try self.showError(question)
      try await self.wait(question.protectionStatus)
      return try await self.secret(
        "\(ours: question.authenticator.title.capitalizedFirst) of \(question.username, limit: 200): ")
    }
  }

  func change(_ question: UAFCredentialRequest, answer: UAFAnswer<UAFChangedCredential>) async {
    await settle(answer) {
      try self.showError(question)
      try await self.wait(question.protectionStatus)
      let present = try await self.secret("Present \(question.authenticator.title): ")
      return UAFChangedCredential(from: present, to: try await self.newSecret(question.authenticator))
    }
  }

  private func newSecret(_ authenticator: UAFAuthenticator) async throws -> SharedSecretBox {
    let title = authenticator.title
    if isScript { return try await secret("") }
    if authenticator.kind == .pin {
      let (least, most) = (pinPolicy.minimumLength, pinPolicy.maximumLength)
      output.print("Choose a PIN: \(least == most ? "\(least)" : "\(least) to \(most)") digits.")
    }
    while true {
      let first = try await secret("New \(title): ")
      let second = try await secret("Repeat it: ")
      if first.withSecret({ first in second.withSecret { $0.isEqual(to: first) } }) { return first }
      output.print("The two entries differ; try again.")
    }
  }

  private func secret(_ prompt: TerminalText) async throws -> SharedSecretBox {
    try await answering(with: DeviceOptions.passwordOption) {
      try await arguments.secretInput("password-fd").read(prompt) {
        SharedSecretBox(SecretBytes(copying: $0))
      }
    }
  }

  /// Reports the error and the number of attempts left; a script has only one attempt.
  private func showError(_ question: UAFCredentialRequest) throws {
    guard let error = question.lastRecoverableError else { return }
    var sentence =
      error == .wrongCredential ? "the \(question.authenticator.title) is wrong" : error.description
    if case .lastAttemptFailed(let left?, _) = question.protectionStatus, error == .wrongCredential {
      sentence += left == 1 ? "; one try is left" : "; \(left) tries are left"
    }
    guard !isScript else {
      let isWrong = error == .wrongCredential || error == .coolingDown
      throw CommandFailure(isWrong ? .permissionDenied : .dataError, TerminalText(sentence))
    }
    output.print("Not accepted: \(sentence, limit: 1_000).")
  }

  private func wait(_ status: LockStatus) async throws {
    guard case .lastAttemptFailed(_, let wait) = status, wait > .zero else { return }
    let seconds = wait.components.seconds + 1
    guard !isScript else {
      throw CommandFailure(.permissionDenied, "after wrong tries the next is allowed in \(seconds) s")
    }
    output.print("After wrong tries the next is allowed in \(seconds) s; waiting.")
    try await Task.sleep(for: wait)
  }

  // MARK: Fingers and the passcode of the device

  func verifyBiometrics(_ question: UAFPromptRequest, answer: UAFAnswer<UAFBiometricPrompt>) async {
    await settle(answer) {
      try self.announce(question)
      let output = self.output
      return UAFBiometricPrompt(reason: "Authenticate \(question.username)") { hint in
        output.print("\(ours: hint.message)")
      }
    }
  }

  func verifyPasscode(_ question: UAFPromptRequest, answer: UAFAnswer<UAFPasscodePrompt>) async {
    await settle(answer) {
      try self.announce(question)
      return UAFPasscodePrompt(
        reason: "Authenticate \(question.username)", conversation: TerminalConversation(output: self.output))
    }
  }

  private func announce(_ question: UAFPromptRequest) throws {
    try show(question.transaction)
    if let error = question.lastRecoverableError { output.print("Not accepted: \(error).") }
  }

  // MARK: Answers

  /// Answers with the result; without one, cancels the operation.
  private func settle<Value: Sendable>(
    _ answer: UAFAnswer<Value>, _ ask: @escaping @Sendable () async throws -> Value?
  ) async {
    do {
      if let value = try await ask() { answer.give(value) } else { answer.cancel() }
    } catch {
      lastError.withLock { $0 = error }
      answer.cancel()
    }
  }
}

extension String {
  fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
