extension ReportRow {
  /// Returns the row of our code validations compared with privacyIDEA's.
  ///
  /// - Parameters:
  ///   - name: The name of the measurement.
  ///   - rate: Our validations per second.
  ///   - peer: The other server's version and its validations per second in the same run. Without it the row has neither a ratio
  ///     nor a goal, since figures of another day are not comparable.
  /// - Returns: The row.
  package static func besidePrivacyIDEA(
    _ name: String, rate: Double, _ peer: (version: String, rate: Double)?
  ) -> ReportRow {
    var row = ReportRow(
      name: "\(name), beside privacyIDEA", value: rate, unit: "requests/s",
      notes: "not compared: Scripts/bench says how privacyIDEA is found")
    guard let peer else { return row }
    row.comparedWith =
      "\(peer.version), tuned, SQLite, without TLS, 8 connections \(peer.rate.formatted())/s"
    (row.ratio, row.goal, row.notes) = (rate / peer.rate, .ratioAtLeast(200), "")
    return row
  }
}
