/// The result of an attempt with one-time passwords, and the data to write.
public struct OTPResult: Hashable, Sendable {
  /// The outcome.
  public var outcome: CodeOutcome
  /// The credentials whose state, counter, drift or failures have changed.
  public var changed: [CredentialRecord] = []
  /// The waiting time of the address from now on; `nil` for none.
  public var wait: WaitRecord?
  /// The event.
  public var audit: AuditRecord

  /// Describes a result that changes no credential.
  public init(_ outcome: CodeOutcome, wait: WaitRecord?, audit: AuditRecord) {
    self.outcome = outcome
    self.wait = wait
    self.audit = audit
  }
}
