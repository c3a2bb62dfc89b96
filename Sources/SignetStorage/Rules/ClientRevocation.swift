extension ClientRecord {
  /// Returns the client, permanently revoked at the time of the first revocation, even if its row was altered.
  package func revoking(at time: Int64) -> Self {
    var client = self
    client.revoked = revoked ?? time
    return client
  }
}
