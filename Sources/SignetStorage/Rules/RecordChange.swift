/// The result of a requested change of a row.
package enum RecordChange<Record: Hashable & Sendable, Refusal: Hashable & Sendable>: Hashable, Sendable {
  /// The row as it is to be written.
  case made(Record)
  /// Rejected: nothing is written.
  case refused(Refusal)
}
