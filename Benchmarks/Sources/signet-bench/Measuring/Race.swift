import BenchReport

/// Runs contenders in turn, A B C A B C, so that a drift of the machine's speed affects all of them alike.
///
/// Each turn is short, the order rotates, and a ratio is the median over rounds of the ratio within a round. A turn is measured
/// in the CPU time of the one working thread, so other processes affect it only through caches.
struct Race {
  /// A contender.
  struct Contender {
    let name: String
    /// Does the operation this many times and returns the CPU time in nanoseconds.
    let run: (Int) throws -> Double

    /// Creates a contender that runs in another program.
    init(_ name: String, measured run: @escaping (Int) throws -> Double) {
      (self.name, self.run) = (name, run)
    }

    /// Creates a contender in this process.
    init(_ name: String, _ operation: @escaping () throws -> Void) {
      self.init(
        name,
        measured: { count in
          let start = Clocks.threadCPU
          for _ in 0..<count { try operation() }
          return Double(Clocks.threadCPU - start)
        })
    }
  }

  /// The results of a contender.
  struct Outcome {
    let name: String
    /// Nanoseconds for one operation, in each round.
    let rounds: [Double]

    /// Operations per second of CPU time.
    var rate: Double { 1e9 / Samples(rounds).median }

    /// Returns the speed relative to another: the median of the rounds.
    func ratio(to other: Outcome) -> Double {
      Samples(zip(rounds, other.rounds).map { $1 / $0 }).median
    }

    /// Returns the name and the rate.
    func described(_ unit: String = "op/s") -> String { "\(name) \(rate.formatted()) \(unit)" }
  }

  let rounds: Int
  /// The length of a turn in nanoseconds of CPU time.
  let turn: Double

  func run(_ contenders: [Contender]) throws -> [Outcome] {
    let counts = try contenders.map { try count(for: $0) }
    var times = [[Double]](repeating: [], count: contenders.count)
    for round in 0..<rounds {
      for place in contenders.indices {
        let index = (place + round) % contenders.count
        times[index].append(try contenders[index].run(counts[index]) / Double(counts[index]))
      }
    }
    return zip(contenders, times).map { Outcome(name: $0.name, rounds: $1) }
  }

  /// Returns the number of operations in a turn; finding it also warms up.
  private func count(for contender: Contender) throws -> Int {
    var count = 1
    while true {
      let time = try contender.run(count)
      if time > turn / 4 { return max(1, Int(Double(count) * turn / time)) }
      count *= 2
    }
  }
}

/// Keeps an optimizer from removing a result.
@inline(never) @_optimize(none) func keep<Value: ~Copyable>(_ value: borrowing Value) {}
