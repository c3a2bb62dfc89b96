/// What comes of an attempt to use one-time passwords, and what is to be written.
public struct OTPResult: Hashable, Sendable {
  /// How it ended.
  public var outcome: CodeOutcome
  /// The credentials whose state, counter, drift or failures are others now.
  public var changed: [CredentialRecord] = []
  /// What the address has to wait from now on; `nil` for nothing.
  public var wait: WaitRecord?
  /// The event.
  public var audit: AuditRecord

  /// Describes a result that changes no credential.
  ///
  /// - Parameters:
  ///   - outcome: How it ended.
  ///   - wait: What the address has to wait.
  ///   - audit: The event.
  public init(_ outcome: CodeOutcome, wait: WaitRecord?, audit: AuditRecord) {
    (self.outcome, self.wait, self.audit) = (outcome, wait, audit)
  }
}
