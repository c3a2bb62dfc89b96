import SignetStorage
import SignetUAF

extension ServiceContext {
  /// Whether a container is asked a transaction: it can show what is required, or a no is all that can be answered.
  ///
  /// Whoever was asked before the operator removed what is required can still say no.
  func isAsked(_ transaction: TransactionRecord, of container: ContainerRecord) -> Bool {
    !transaction.offersApproval || mayAnswer(transaction, by: container)
      || transaction.requirements.allSatisfy { settings.requirements[$0] == nil }
  }

  /// Whether an approval by a container shows what a transaction requires; what is signed is all that is demanded where nothing is
  /// required by name, and a report is made by the device when it is told to.
  func mayAnswer(_ transaction: TransactionRecord, by container: ContainerRecord) -> Bool {
    settings.requirements.isOneMet(
      of: transaction.requirements, by: AuthenticationEvidence(of: container, isSigned: true).afterReport)
  }

  /// Whether a key of UAF is in use, and of a model that shows what a transaction asks and can show what it requires.
  func mayConfirm(_ transaction: TransactionRecord, by key: UAFCredentialRecord) -> Bool {
    let model = key.reference.flatMap { uaf?.models[$0.aaid] }
    let forms = [false, true].compactMap { UAFRequests.shown(transaction, withRequester: $0) }
    guard key.state == .active, let model, forms.contains(where: model.statement.shows) else { return false }
    return settings.requirements.isOneMet(of: transaction.requirements, by: evidence(ofConfirmationBy: key))
  }

  /// What a key of UAF shows that has confirmed a transaction.
  func evidence(ofConfirmationBy key: UAFCredentialRecord) -> AuthenticationEvidence {
    AuthenticationEvidence(of: key, among: uaf?.models).atBest(confirmingTransaction: true)
  }
}

extension AuthenticationEvidence {
  /// What the approval of a container shows at best, of a device that has just reported.
  static var bestContainer: AuthenticationEvidence {
    var best = AuthenticationEvidence(.container)
    (best.factors, best.isUserVerified, best.isContentSigned) = (2, true, true)
    best.keyProtection = .hardwareClaimed
    return best.afterReport
  }

  /// What the confirmation of a transaction by a key of UAF shows at best.
  static var bestConfirmation: AuthenticationEvidence {
    var best = AuthenticationEvidence(.uaf)
    (best.factors, best.isUserVerified, best.isContentSigned) = (3, true, true)
    best.keyProtection = .hardwareAttested
    return best
  }
}
