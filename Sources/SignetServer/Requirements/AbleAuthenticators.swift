package import SignetStorage
import SignetUAF

/// Which authenticators can answer a transaction, by what is required as it is now.
package struct AbleAuthenticators: Sendable {
  private let settings: CurrentSettings
  private let uaf: UAFSetup?

  /// By settings that may become others, and by the models of UAF, where that is served.
  init(_ settings: CurrentSettings, _ uaf: UAFSetup?) { (self.settings, self.uaf) = (settings, uaf) }

  private var requirements: NamedRequirements { settings.value.requirements }

  /// What the steps of storage ask: the same that decides who is asked at all.
  package var rules: AnswerRules {
    var rules = AnswerRules()
    rules.container = { isAsked($0, of: $1) }
    rules.key = { mayConfirm($0, by: $1, $2) }
    return rules
  }

  /// Whether a container is asked a transaction: it can show what is required, or a no is all that can be answered.
  ///
  /// Whoever was asked before the operator removed what is required can still say no.
  func isAsked(_ transaction: TransactionRecord, of container: ContainerRecord) -> Bool {
    guard transaction.isAsked(of: .container) else { return false }
    // With no name in it there is none to look up, and what is signed is all that is demanded.
    guard transaction.offersApproval, !transaction.requirements.isEmpty else { return true }
    let known = requirements
    return mayAnswer(transaction, by: container) || transaction.requirements.allSatisfy { known[$0] == nil }
  }

  /// Whether an approval by a container shows what a transaction requires; what is signed is all that is demanded where nothing is
  /// required by name, and a report is made by the device when it is told to.
  func mayAnswer(_ transaction: TransactionRecord, by container: ContainerRecord) -> Bool {
    requirements.isOneMet(
      of: transaction.requirements,
      by: AuthenticationEvidence(of: container, isSigned: true).matching(transaction).afterReport)
  }

  /// Whether the yes of an authenticator app shows what a transaction requires; who has the app asked by name requires no more.
  package func mayAnswerByApp(_ transaction: TransactionRecord) -> Bool {
    transaction.soleKind == .pushApp
      || requirements.isOneMet(of: transaction.requirements, by: AuthenticationEvidence(.pushApp))
  }

  /// Whether a key of UAF is in use, and of a model that shows what a transaction asks and can show what it requires.
  ///
  /// What UAF signs has no number in it.
  ///
  /// - Parameters:
  ///   - transaction: The transaction.
  ///   - key: The key.
  ///   - confirmation: Who has it confirm: what is shown says who asks where the server does.
  /// - Returns: Whether it may.
  func mayConfirm(
    _ transaction: TransactionRecord, by key: UAFCredentialRecord, _ confirmation: AnswerRules.Confirmation
  ) -> Bool {
    guard key.state == .active, transaction.isAsked(of: .uaf), transaction.offersApproval,
      transaction.sealedNumber == nil,
      let model = key.reference.flatMap({ uaf?.models[$0.aaid] }),
      let shown = UAFRequests.shown(transaction, withRequester: confirmation == .byServer),
      model.statement.shows(shown)
    else { return false }
    return requirements.isOneMet(of: transaction.requirements, by: evidence(ofConfirmationBy: key))
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
