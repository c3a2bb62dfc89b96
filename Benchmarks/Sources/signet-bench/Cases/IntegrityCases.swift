import BenchReport
import Foundation
import SignetIntegrity

extension Bench {
  /// The cost of a tampering check without tampering: all guards of a release, and each by itself.
  func integrity(_ report: inout Report) async throws {
    let guards = Integrity.standardGuards(for: .release)
    let settings = IntegritySettings(reaction: .report)
    // The first check of a process locates functions and hashes the program.
    var first: [Double] = []
    for _ in 0..<options.times(20) {
      let fresh = try Integrity(flavour: .release, settings: settings)
      first.append(milliseconds(await fresh.evaluate().duration))
    }
    let integrity = try Integrity(guards: guards, flavour: .release, settings: settings)
    _ = await integrity.evaluate()
    var (again, scores): ([Double], [Double]) = ([], [])
    for _ in 0..<options.times(300) {
      let evaluation = await integrity.evaluate()
      again.append(milliseconds(evaluation.duration))
      scores.append(evaluation.score)
    }
    if let worst = scores.max(), worst > 0 {
      report.note(
        "The benchmark's own evaluations scored up to \(worst): something on this machine looks like tampering."
      )
    }
    let (samples, firsts) = (Samples(again), Samples(first))
    report.add([
      ReportRow(
        name: "full evaluation of tamper guards, p50", value: samples.median, unit: "ms",
        goal: .valueBelow(20), notes: "\(guards.count) guards"),
      ReportRow(
        name: "full evaluation of tamper guards, p99", value: samples.percentile(99), unit: "ms",
        goal: .valueBelow(20), notes: "of \(samples.count)"),
      ReportRow(
        name: "the first evaluation of a program, p50", value: firsts.median, unit: "ms",
        goal: .valueBelow(20)),
    ])
    for each in guards {
      let alone = try Integrity(guards: [each], flavour: .release, settings: settings)
      _ = await alone.evaluate()
      var times: [Double] = []
      for _ in 0..<options.times(100) { times.append(milliseconds(await alone.evaluate().duration)) }
      report.add(ReportRow(name: "guard \(each.name), p50", value: Samples(times).median, unit: "ms"))
    }
    let isolated = try Integrity(
      guards: [IsolatedGuard(EnvironmentGuard())], flavour: .release, settings: settings)
    var times: [Double] = []
    for _ in 0..<options.times(100) { times.append(milliseconds(await isolated.evaluate().duration)) }
    report.add(
      ReportRow(name: "a guard in a process of its own, p50", value: Samples(times).median, unit: "ms"))
  }

  private func milliseconds(_ duration: Duration) -> Double { duration / .milliseconds(1) }
}
