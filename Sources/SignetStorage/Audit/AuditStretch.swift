/// A part of the audit log, for a search from its newest entries back.
public struct AuditStretch: Hashable, Sendable {
  /// The found entries: newest first within a chain, chains one after the other.
  public internal(set) var entries: [AuditEntry] = []
  /// The newest entry of each chain that was not searched; empty at the end of the search.
  public internal(set) var unread: [AuditEntry] = []
}
