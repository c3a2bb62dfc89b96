/// An authenticator's answer to a command, in its wire form (UAF Authenticator Commands section 6).
package struct AuthenticatorAnswer: Hashable, Sendable {
  /// The result of a successful command.
  package enum Payload: Hashable, Sendable {
    case nothing
    case info(apiVersion: UInt8, [AuthenticatorDescription])
    /// A new key: its assertion, and the handle that the module stores if the authenticator does not.
    case registered(assertion: [UInt8], keyHandle: [UInt8])
    case signed(assertion: [UInt8])
    /// Several matching keys: the user has to choose one, and the module repeats the command with its handle alone.
    case choice([Choice])
  }

  /// A key that the user can choose.
  package struct Choice: Hashable, Sendable {
    package let userName: String
    package let keyHandle: [UInt8]

    package init(userName: String, keyHandle: [UInt8]) {
      (self.userName, self.keyHandle) = (userName, keyHandle)
    }
  }

  package let command: AuthenticatorStatus.Command
  /// The code as received; ``AuthenticatorStatus`` lists the known ones.
  package let statusCode: UInt16
  package let payload: Payload

  package init(
    _ command: AuthenticatorStatus.Command, _ status: AuthenticatorStatus, _ payload: Payload = .nothing
  ) {
    self.command = command
    statusCode = status.rawValue
    self.payload = payload
  }

  /// The status; an unknown code counts as an unknown failure.
  package var status: AuthenticatorStatus { AuthenticatorStatus(rawValue: statusCode) ?? .unknown }

  /// Parses an answer.
  ///
  /// - Throws: ``AuthenticatorCommandFailure`` if the answer is malformed.
  package init(parsing bytes: [UInt8]) throws(AuthenticatorCommandFailure) {
    let elements = try CommandElements(bytes)
    guard let command = AuthenticatorStatus.Command.allCases.first(where: { $0.answerTag == elements.tag })
    else {
      throw .notACommand
    }
    self.command = command
    try elements.refuse(except: [
      .statusCode, .apiVersion, .authenticatorInfo, .authenticatorAssertion, .keyHandle,
      .userNameAndKeyHandle,
    ])
    statusCode = try elements.number(.statusCode, byteCount: 2)
    payload =
      statusCode == AuthenticatorStatus.ok.rawValue
      ? try Self.readPayload(command, elements) : .nothing
  }

  private static func readPayload(
    _ command: AuthenticatorStatus.Command, _ elements: CommandElements
  ) throws(AuthenticatorCommandFailure) -> Payload {
    switch command {
    case .deregister, .openSettings: return .nothing
    case .getInfo:
      var list: [AuthenticatorDescription] = []
      for content in try elements.all(.authenticatorInfo, 0...65_535) {
        list.append(try AuthenticatorDescription(CommandElements(.authenticatorInfo, content)))
      }
      return .info(apiVersion: try elements.required(.apiVersion, 1...1)[0], list)
    case .register:
      return .registered(
        assertion: try elements.required(.authenticatorAssertion, 1...4096),
        keyHandle: try elements.optional(.keyHandle, 1...4096) ?? [])
    case .sign:
      var choices: [Choice] = []
      for content in try elements.all(.userNameAndKeyHandle, 0...8192) {
        let inner = try CommandElements(.userNameAndKeyHandle, content)
        try inner.refuse(except: [.userName, .keyHandle])
        choices.append(
          Choice(
            userName: try inner.text(.userName, 1...128), keyHandle: try inner.required(.keyHandle, 1...4096))
        )
      }
      guard choices.isEmpty else { return .choice(choices) }
      return .signed(assertion: try elements.required(.authenticatorAssertion, 1...4096))
    }
  }

  package var encoded: [UInt8] {
    var writer = TLVWriter()
    writer.write(command.answerTag) { writer in
      writer.write(.statusCode) { $0.write(statusCode) }
      switch payload {
      case .nothing: break
      case .info(let version, let list):
        writer.write(.apiVersion, [version])
        for item in list { item.write(to: &writer) }
      case .registered(let assertion, let keyHandle):
        writer.write(.authenticatorAssertion, assertion)
        if !keyHandle.isEmpty { writer.write(.keyHandle, keyHandle) }
      case .signed(let assertion): writer.write(.authenticatorAssertion, assertion)
      case .choice(let choices):
        for choice in choices {
          writer.write(.userNameAndKeyHandle) { writer in
            writer.write(.userName, choice.userName.utf8)
            writer.write(.keyHandle, choice.keyHandle)
          }
        }
      }
    }
    return writer.bytes
  }
}
