/// A part of the audit log, for a search from its newest entries back.
public struct AuditStretch: Hashable, Sendable {
  /// What is searched in: of each chain the newest first, chains one after the other.
  public internal(set) var entries: [AuditEntry] = []
  /// The newest entry of each chain that was not looked at; where there is none, the search is over.
  public internal(set) var unread: [AuditEntry] = []
}
