extension Model {
  /// What can still be answered at a time, by the names of invites, of messages to apps and of UAF operations.
  ///
  /// Whether the database says of what nobody answered in time that it has ended, nobody can see.
  package func open(at time: Int64) -> Set<String> {
    var all = Set(invites.filter(\.value.isOpen).keys)
    for (id, message) in messages where message.state == .pending && message.expires > time { all.insert(id) }
    for (id, session) in sessions where session.isOpen && (session.tokenExpires ?? session.expires) > time {
      all.insert(id)
    }
    return all
  }
}
