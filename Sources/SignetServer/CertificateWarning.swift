/// The schedule of warnings before the server's certificate expires: at the start, and then once a day.
package struct CertificateWarning {
  /// The time before the end at which warnings begin, in seconds: 30 days.
  package static let notice: Int64 = 30 * 86_400

  /// The last second in which the certificate is valid, since 1970.
  let end: Int64
  private var lastWarning: Int64?

  package init(end: Int64) { self.end = end }

  /// Returns the number of whole days left if a warning is due; `nil` otherwise.
  package mutating func daysLeft(at time: Int64) -> Int64? {
    guard time > end - Self.notice, lastWarning.map({ time >= $0 + 86_400 }) ?? true else { return nil }
    lastWarning = time
    return max(0, (end - time) / 86_400)
  }
}
