/// Repeated measurements of one quantity.
struct Samples: Sendable {
  private var sorted: [Double] = []

  init(_ values: [Double]) { sorted = values.sorted() }

  /// Converts times in nanoseconds to milliseconds.
  init(nanoseconds: [UInt64]) { self.init(nanoseconds.map { Double($0) / 1e6 }) }

  var count: Int { sorted.count }

  var median: Double { percentile(50) }

  /// Returns the smallest value that at least this percentage of all values does not exceed; 0 without values.
  func percentile(_ percent: Double) -> Double {
    guard !sorted.isEmpty else { return 0 }
    let rank = (percent / 100 * Double(sorted.count)).rounded(.up)
    return sorted[min(max(Int(rank) - 1, 0), sorted.count - 1)]
  }
}
