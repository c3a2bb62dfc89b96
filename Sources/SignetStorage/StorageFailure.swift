/// The reason why a step failed; unless a case says otherwise, nothing was changed.
package enum StorageFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// An entry with this name or id exists already.
  case exists
  /// The change refers to something that does not exist.
  case unknown
  /// The user is suspended or deleted: the server accepts nothing from the user.
  case userNotActive(UserRecord.State)
  /// The device is locked: the server accepts nothing that is bound to it.
  case deviceLocked
  /// The server has locked or restricted the container.
  case containerLocked
  /// There is no such container in a state that permits this request.
  case containerNotInUse
  /// The authentication of a UAF caller is no longer valid: its keys are not active, or do not suffice for the request.
  case unauthorized
  /// Another process held the database for too long.
  case busy
  /// The database server cannot be reached, or the connection failed during the commit, so that the outcome is unknown.
  case unreachable(reason: String)
  /// The address of the database server is malformed; the reason describes the format.
  case unreadableAddress(reason: String)
  /// The disk is full.
  case full
  /// The file or its folder, or the database of a server, cannot be written.
  case readOnly
  /// A newer version wrote the database.
  case tooNew(found: Int, known: Int)
  /// The database holds tables of another program, or of version 0.1.
  case otherTables
  /// The storage was closed.
  case closed
  /// The MAC of a row does not verify: another program has written it, or it is older than the MACs.
  case altered(row: String, of: String)
  /// Any other failure; `detail` is for the log.
  case failed(detail: String)

  /// The failure and its remedy.
  package var description: String {
    switch self {
    case .exists: "the name already exists; choose another name"
    case .unknown: "it refers to something that does not exist"
    case .userNotActive(let state): "the user is \(state.rawValue)"
    case .deviceLocked: "the device is locked"
    case .containerLocked: "the container is locked"
    case .containerNotInUse: "the container is not active"
    case .unauthorized: "the authorization of the caller has ended"
    case .busy: "another process holds the database; try again"
    case .unreachable(let reason), .unreadableAddress(let reason): reason
    case .full: "the disk is full; make room and try again: nothing was lost"
    case .readOnly:
      "the database cannot be written; check owner and mode of its folder, or why the database server is read-only"
    case .tooNew(let found, let known):
      "the database has format \(found), this build supports up to \(known): use a newer signet-server"
    case .otherTables:
      "the database holds tables of another program, or of signet-server 0.1, which this version does not read; "
        + "nothing was changed: make a new server (signet-server init)"
    case .closed: "the storage is closed"
    case .altered(let row, let table):
      "the row \(row) of \(table) was not written by this server; find out who can write to the database, and revoke, suspend or rotate the object of the row"
    case .failed(let detail): "the database failed: \(detail)"
    }
  }
}
