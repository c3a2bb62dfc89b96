import Signet
import SignetTerminal

extension TerminalText {
  /// What a failure of whatever kind says, with what is ours in it known as such.
  ///
  /// - Parameters:
  ///   - failure: Any.
  ///   - limit: The most characters.
  init(saidBy failure: any Error, limit: Int = 2000) {
    let message: TerminalText? =
      switch failure {
      case let failure as SignetFailure: failure.message
      case let failure as TransportFailure: failure.message
      case let failure as VaultFailure: failure.message
      case let failure as UAFOperationFailure: failure.message
      case let failure as UAFAuthenticationFailure: failure.reason.message
      default: nil
      }
    self = message?.limited(to: limit) ?? TerminalText(of: failure, limit: limit)
  }
}

extension TransportFailure {
  /// What happened, in words of ours: it has no URL, header or content.
  var message: TerminalText { TerminalText(ours: description) }
}

extension VaultFailure {
  /// What happened; what names a folder is ours around that name, which is quoted as in a command.
  var message: TerminalText {
    switch self {
    case .folderMissing(let path), .folderUnavailable(let path, _), .folderReadOnly(let path),
      .ownedByAnother(let path, _, _), .writableByOthers(let path):
      TerminalText(ours: description, around: path)
    default: TerminalText(description)
    }
  }
}

extension SignetFailure {
  /// What happened; somebody else's as a whole where a server, a file or an app may have a word in it.
  var message: TerminalText {
    switch self {
    case .vault(let failure): failure.message
    case .alreadyEnrolled(let what, let account):
      "there are \(what) already, and they stay as they are; to enrol anew, remove the account with all that it has first: "
        + "\(command: "signet account delete \(account.shortForm)")"
    case .pushAuthRefused(let status, let reason) where !reason.isEmpty:
      "the server did not accept it (status \(status)): \(reason)"
    default: isOurs ? TerminalText(ours: description) : TerminalText(description)
    }
  }

  /// Whether all words are ours.
  private var isOurs: Bool {
    switch self {
    case .wrongPassword, .passwordRequired, .activationCancelled, .lockedOut, .waiting, .wiped,
      .passwordUsedBefore, .passwordTooYoung, .passwordExpired, .wrongRecoveryCode, .biometricsInvalidated,
      .wayNotEnabled, .wayNotOffered, .activationAborted, .activationRefused, .serverNotAuthentic,
      .renewalDropped, .noSuchContainer, .noSuchAccount, .notExportable, .challengeWanted,
      .challengeNotWanted,
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
  /// What happened; somebody else's as a whole where a server has a word in it.
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
  /// A sentence of ours with a path in it, which is quoted as in a command; all of it counts as somebody else's where that is not found.
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
