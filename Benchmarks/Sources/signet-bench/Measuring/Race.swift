import BenchReport

/// Runs contenders in turn, A B C A B C, so that a machine whose speed drifts slows all of them alike.
///
/// Each turn is short, the order rotates, and a ratio is the median over rounds of the ratio within a round. A turn is
/// measured in the CPU time of the one thread that does the work, so other processes do not enter it but through caches.
struct Race {
  /// Who takes part.
  struct Contender {
    let name: String
    /// Does the operation this many times and says how many nanoseconds of CPU time that took.
    let run: (Int) throws -> Double

    /// A contender that a program of its own runs.
    init(_ name: String, measured run: @escaping (Int) throws -> Double) {
      (self.name, self.run) = (name, run)
    }

    /// A contender in this process.
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

  /// What a contender did.
  struct Outcome {
    let name: String
    /// Nanoseconds for one operation, in each round.
    let rounds: [Double]

    /// Operations per second of CPU time.
    var rate: Double { 1e9 / Samples(rounds).median }

    /// How fast this one is in terms of another: the median of the rounds.
    func ratio(to other: Outcome) -> Double {
      Samples(zip(rounds, other.rounds).map { $1 / $0 }).median
    }

    /// Name and rate.
    func described(_ unit: String = "op/s") -> String { "\(name) \(rate.formatted()) \(unit)" }
  }

  let rounds: Int
  /// How long a turn is, in nanoseconds of CPU time.
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

  /// How many operations fill a turn; finding out also warms up.
  private func count(for contender: Contender) throws -> Int {
    var count = 1
    while true {
      let time = try contender.run(count)
      if time > turn / 4 { return max(1, Int(Double(count) * turn / time)) }
      count *= 2
    }
  }
}

/// Keeps a result from being optimised away.
@inline(never) @_optimize(none) func keep<Value: ~Copyable>(_ value: borrowing Value) {}
