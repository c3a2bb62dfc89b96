import Signet
import SignetTerminal
import SignetUAFClient

extension TerminalText {
  /// Creates the message of any failure, in which parts from other sources are marked as untrusted.
  ///
  /// - Parameters:
  ///   - failure: The failure.
  ///   - limit: The maximum number of characters.
  init(describing failure: any Error, limit: Int = 2000) {
    let message: TerminalText? =
      switch failure {
      case let failure as SignetError: failure.message
      case let failure as TransportFailure: failure.message
      case let failure as VaultFailure: failure.message
      case let failure as UAFOperationFailure: failure.message
      default: nil
      }
    self = message?.limited(to: limit) ?? TerminalText(of: failure, limit: limit)
  }
}

extension TransportFailure {
  /// The message; it has no URL, header or content and is trusted text.
  var message: TerminalText { TerminalText(ours: description) }
}

extension VaultFailure {
  /// The message; only the path in it is untrusted, and quoted as in a command.
  var message: TerminalText {
    switch self {
    case .folderMissing(let path), .folderUnavailable(let path, _), .folderReadOnly(let path),
      .ownedByAnother(let path, _, _), .writableByOthers(let path):
      TerminalText(ours: description, around: path)
    default: TerminalText(description)
    }
  }
}

extension SignetError {
  /// The message; it is untrusted as a whole if a server, a file or an app may have contributed to it.
  var message: TerminalText {
    switch self {
    case .vault(let failure): failure.message
    case .uaf(let cause): TerminalText(describing: cause.failure)
    case .alreadyEnrolled(let content, let account):
      "\(content) are already enrolled, and were not changed; to enrol again, first delete the account with all its secrets: "
        + "\(command: "signet account delete \(account.shortForm)")"
    case .pushAuthRefused(let status, let reason) where !reason.isEmpty:
      "the server did not accept it (status \(status)): \(reason)"
    default: isOurs ? TerminalText(ours: description) : TerminalText(description)
    }
  }

  /// True if the whole message is this program's own text.
  private var isOurs: Bool {
    switch self {
    case .wrongPassword, .passwordRequired, .activationCancelled, .lockedOut, .waiting, .wiped,
      .passwordUsedBefore, .passwordTooYoung, .passwordExpired, .wrongRecoveryCode, .biometricsInvalidated,
      .unlockMethodNotEnabled, .unlockMethodNotOffered, .activationAborted, .activationRefused,
      .serverNotAuthentic,
      .renewalDropped, .noSuchContainer, .noSuchAccount, .notExportable, .challengeRequired,
      .challengeNotSupported,
      .containerWiped, .pushAuthRefused, .transport, .unexpectedAnswer, .containerUnknown, .serverKeyUnknown,
      .transactionExpired, .noSuchTransaction, .transactionDecided, .decisionNotAllowed,
      .transactionCancelled,
      .numberRequired:
      true
    case .key(_, let failure): failure.isOurs
    default: false
    }
  }
}

extension UAFOperationFailure {
  /// The message; it is untrusted as a whole if a server may have contributed to it.
  var message: TerminalText {
    switch self {
    case .fido(_, nil), .clockSkewTooBig: TerminalText(ours: description)
    case .network(let problem):
      if case .transport(let failure) = problem.cause {
        failure.message
      } else {
        TerminalText(description)
      }
    case .device(let failure): failure.message
    default: TerminalText(description)
    }
  }
}

extension TerminalText {
  /// Creates a trusted sentence with an untrusted path, quoted as in a command; without the path the whole text is
  /// untrusted.
  fileprivate init(ours sentence: String, around path: String) {
    let parts = path.isEmpty ? [] : sentence.ranges(of: path)
    guard !parts.isEmpty else {
      self.init(sentence)
      return
    }
    var (shown, rest) = (TerminalText(), sentence.startIndex)
    for part in parts {
      shown += TerminalText(ours: String(sentence[rest..<part.lowerBound])) + TerminalText(shellWord(path))
      rest = part.upperBound
    }
    self = shown + TerminalText(ours: String(sentence[rest...]))
  }
}
