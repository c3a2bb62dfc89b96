package import SignetStorage
import SignetUAF

/// The rules that decide which authenticators can answer a transaction, by the current requirements.
package struct AbleAuthenticators: Sendable {
  private let settings: CurrentSettings
  private let uaf: UAFSetup?

  /// Creates the rules from the current settings and the UAF models; `uaf` is `nil` if UAF is not configured.
  init(_ settings: CurrentSettings, _ uaf: UAFSetup?) { (self.settings, self.uaf) = (settings, uaf) }

  private var requirements: NamedRequirements { settings.value.requirements }

  /// The rules for the steps of the storage; the same rules decide which authenticators are asked at all.
  package var rules: AnswerRules {
    var rules = AnswerRules()
    rules.container = { isAsked($0, of: $1) }
    rules.key = { mayConfirm($0, by: $1, $2) }
    return rules
  }

  /// Returns true if a container is asked about a transaction: it can meet the requirements, or only a denial is possible.
  ///
  /// If the operator has removed all named requirements since, a container that was asked before can still deny.
  func isAsked(_ transaction: TransactionRecord, of container: ContainerRecord) -> Bool {
    guard transaction.isAsked(of: .container) else { return false }
    // Without named requirements, only signed content is required, which every container can give.
    guard transaction.offersApproval, !transaction.requirements.isEmpty else { return true }
    let known = requirements
    return mayAnswer(transaction, by: container) || transaction.requirements.allSatisfy { known[$0] == nil }
  }

  /// Returns true if an approval by a container meets the requirements.
  ///
  /// Without named requirements, only signed content is required. A report that is due does not matter: the device sends one
  /// when the server asks for it.
  func mayAnswer(_ transaction: TransactionRecord, by container: ContainerRecord) -> Bool {
    requirements.isOneMet(
      of: transaction.requirements,
      by: AuthenticationEvidence(of: container, isSigned: true).matching(transaction).afterReport)
  }

  /// Returns true if an approval by an app meets the requirements; a caller that selected the app requires no more.
  package func mayAnswerByApp(_ transaction: TransactionRecord) -> Bool {
    transaction.soleKind == .pushApp
      || requirements.isOneMet(of: transaction.requirements, by: AuthenticationEvidence(.pushApp))
  }

  /// Returns true if a UAF key is active, and its model can show the transaction and meet its requirements.
  ///
  /// It is false for a transaction with a number, since the content that UAF signs contains none.
  ///
  /// - Parameters:
  ///   - transaction: The transaction.
  ///   - key: The key.
  ///   - confirmation: The party that asks; if it is the server, the shown text names the requester.
  /// - Returns: True if the key can confirm it.
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

  func evidence(ofConfirmationBy key: UAFCredentialRecord) -> AuthenticationEvidence {
    AuthenticationEvidence(of: key, among: uaf?.models).atBest(confirmingTransaction: true)
  }
}

extension AuthenticationEvidence {
  /// The best evidence of a container's approval, just after a report of its device.
  static var bestContainer: AuthenticationEvidence {
    var best = AuthenticationEvidence(.container)
    (best.factors, best.isUserVerified, best.isContentSigned) = (2, true, true)
    best.keyProtection = .hardwareClaimed
    return best.afterReport
  }

  /// The best evidence of a confirmation by a UAF key.
  static var bestConfirmation: AuthenticationEvidence {
    var best = AuthenticationEvidence(.uaf)
    (best.factors, best.isUserVerified, best.isContentSigned) = (3, true, true)
    best.keyProtection = .hardwareAttested
    return best
  }
}
