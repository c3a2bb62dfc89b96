extension ClientRecord {
  /// The client, revoked for good at the time of the first revocation, also where its row was altered.
  package func revoking(at time: Int64) -> Self {
    var client = self
    client.revoked = revoked ?? time
    return client
  }
}
