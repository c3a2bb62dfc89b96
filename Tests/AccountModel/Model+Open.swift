extension Model {
  /// The invites, messages to apps and UAF operations that can still be answered at a time.
  ///
  /// The database may or may not already mark the unanswered ones as ended; a test cannot see that.
  package func open(at time: Int64) -> Set<String> {
    var all = Set(invites.filter(\.value.isOpen).keys)
    for (id, message) in messages where message.state == .pending && message.expires > time { all.insert(id) }
    for (id, session) in sessions where session.isOpen && (session.tokenExpires ?? session.expires) > time {
      all.insert(id)
    }
    return all
  }
}
