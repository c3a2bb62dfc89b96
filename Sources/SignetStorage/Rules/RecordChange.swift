/// What an order makes of a row.
package enum RecordChange<Record: Hashable & Sendable, Refusal: Hashable & Sendable>: Hashable, Sendable {
  /// The row as it is to be written.
  case made(Record)
  /// Nothing is written.
  case refused(Refusal)
}
