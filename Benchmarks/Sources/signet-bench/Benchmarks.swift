import Foundation
import SignetTesting

/// All measurements, one group after the other.
enum Benchmarks {
  /// Runs what the options name, prints the table and writes the JSON.
  ///
  /// - Returns: The exit status: 0 when everything could be measured, whether or not goals are met.
  static func run(_ arguments: [String]) async -> Int32 {
    let options: Options
    do { options = try Options(arguments) } catch {
      print(Options.usage)
      return 64
    }
    let bench = Bench(options)
    let groups: [(String, (inout Report) async throws -> Void)] = [
      ("jose", bench.jose), ("codes", bench.codes), ("policies", bench.policies), ("vault", bench.vault),
      ("tpm", bench.tpm),
      ("device", bench.device),
      ("server", bench.server), ("live", bench.live), ("approvals", bench.approvals),
      ("uaf", bench.uaf), ("integrity", bench.integrity),
    ]
    var report = Report()
    var status: Int32 = 0
    let processors = ProcessInfo.processInfo.activeProcessorCount
    let load = loadAverage()
    for (name, measure) in groups where options.runs(name) {
      report.progress("Measuring: \(name)")
      do { try await measure(&report) } catch {
        report.leaveOut(name, "\(name) could not be measured: \(error)")
        status = 1
      }
    }
    for (moment, load) in [("before", load), ("after", loadAverage())] {
      report.add(
        Measurement(
          name: "load average \(moment)", value: load, unit: "", comparedWith: "processors \(processors)"))
    }
    if max(load, loadAverage()) > Double(processors) {
      report.note(
        "The machine is busy: ratios in CPU time hold, latencies, requests and single commits per second do not."
      )
    }
    print(report.table)
    do {
      try Data(report.json).write(to: URL(fileURLWithPath: options.output))
    } catch {
      print("The results could not be written to \(options.output): \(error)")
      status = 1
    }
    return status
  }
}

/// What every group of measurements needs.
struct Bench: Sendable {
  let options: Options
  /// Short turns, many rounds: a quarter of a minute for three contenders.
  let race: Race

  init(_ options: Options) {
    self.options = options
    race = Race(rounds: options.times(151), turn: 10e6)
  }

  /// Peers that are there; of the others the report says so.
  func peers(_ names: [String], _ report: inout Report) throws -> [Peer] {
    try names.compactMap { name in
      if let peer = try Peer(name, in: options.peers) { return peer }
      report.leaveOut(
        "rows beside \(name)", "\(name) is not installed and is left out: Scripts/setup bench installs it.")
      return nil
    }
  }

  /// A folder for databases, on the disk that the build lies on: a temporary folder may be memory.
  func workFolder() throws -> WorkFolder { try WorkFolder(in: options.work) }
}

/// A folder that goes with its last reference.
final class WorkFolder: Sendable {
  let path: String

  init(in directory: String) throws {
    path = URL(fileURLWithPath: directory).appendingPathComponent("bench-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  deinit {
    do { try FileManager.default.removeItem(atPath: path) } catch {}  // the next `make clean` takes it
  }
}
