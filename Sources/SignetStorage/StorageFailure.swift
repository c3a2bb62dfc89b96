/// Why the database did not do what was asked; nothing was changed then.
@nonexhaustive public enum StorageFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// There is one of this name already.
  case exists
  /// What the change refers to does not exist.
  case unknown
  /// The user is suspended or deleted: nothing of the user is accepted.
  case userNotActive(UserRecord.State)
  /// The device is locked: nothing of what is bound to it is accepted.
  case deviceLocked
  /// The server has locked the container, or lets it do less for now.
  case containerLocked
  /// There is no such container in a state in which it may ask for this.
  case containerNotInUse
  /// What a caller of UAF is known by holds no more: its keys are not in use, or do not suffice for what is asked.
  case unauthorized
  /// Another process held the database for too long.
  case busy
  /// The database server can't be reached, or the connection broke while it committed; then the change was made, or it was not.
  case unreachable(reason: String)
  /// The address of the database server cannot be read; the reason says how it is written.
  case unreadableAddress(reason: String)
  /// The disk is full.
  case full
  /// The file or its folder, or the database of a server, cannot be written.
  case readOnly
  /// The database was written by a newer version.
  case tooNew(found: Int, known: Int)
  /// The database holds tables of another program, or of version 0.1.
  case otherTables
  /// The storage was closed.
  case closed
  /// A row is not as this server wrote it: somebody else has, or it is of before rows had MACs.
  case altered(row: String, of: String)
  /// Anything else; `detail` is for the log.
  case failed(detail: String)

  /// What happened and what to do.
  public var description: String {
    switch self {
    case .exists: "there is one of this name already; choose another name"
    case .unknown: "it refers to something that does not exist"
    case .userNotActive(let state): "the user is \(state.rawValue)"
    case .deviceLocked: "the device is locked"
    case .containerLocked: "the container is locked"
    case .containerNotInUse: "the container is not in use"
    case .unauthorized: "the authorization of the caller has ended"
    case .busy: "another process holds the database; try again"
    case .unreachable(let reason), .unreadableAddress(let reason): reason
    case .full: "the disk is full; make room and try again: nothing was lost"
    case .readOnly:
      "the database cannot be written; see who owns its folder, with which mode, or why the database server only reads"
    case .tooNew(let found, let known):
      "the database has format \(found), this build knows up to \(known): use a newer signet-server"
    case .otherTables:
      "the database holds tables of another program, or of signet-server 0.1, which this version does not read; "
        + "nothing was changed: make a new server (signet-server init)"
    case .closed: "the storage is closed"
    case .altered(let row, let table):
      "the row \(row) of \(table) was not written by this server; find out who can write the database, and revoke, suspend or rotate what the row is of"
    case .failed(let detail): "the database failed: \(detail)"
    }
  }
}
