import BenchReport
import Foundation
import SignetTestKit

/// All measurements, one group after the other.
enum Benchmarks {
  /// Runs what the options name, prints the table and writes the JSON.
  ///
  /// - Returns: The exit status: 1 where a goal is missed, unless the options allow that, or a group failed. In CI, where everything
  ///   is installed, 1 as well where something was left out.
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
    let names = groups.map(\.0)
    if let unknown = options.only.subtracting(names).min() {
      print("There is no group \(unknown); the groups are: \(names.joined(separator: ", "))")
      return 64
    }
    var report = Report(isQuick: options.isQuick)
    let load = loadAverage()
    for (name, measure) in groups {
      guard options.runs(name) else {
        report.skip(name)
        continue
      }
      progress("Measuring: \(name)")
      report.begin(name)
      do { try await measure(&report) } catch let missing as NotInstalled {
        report.leaveOutGroup("\(missing)")
      } catch {
        report.failGroup("\(error)")
      }
    }
    let circumstances = Circumstances(
      commit: options.commit, flags: options.flags, cpu: Circumstances.processorModel,
      processors: ProcessInfo.processInfo.processorCount, load: (load, loadAverage()))
    print(report.table(circumstances))
    do {
      try Data(report.json(circumstances)).write(to: URL(fileURLWithPath: options.output))
    } catch {
      print("The results could not be written to \(options.output): \(error)")
      return 74
    }
    let isCI = ProcessInfo.processInfo.environment["CI"].map { !$0.isEmpty } ?? false
    return report.exitStatus(allowsMissed: options.allowsMissed, allowsGaps: !isCI)
  }

  /// Says on standard error what goes on, so that standard output holds the table alone.
  static func progress(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }
}

/// What a group needs is not on this system.
struct NotInstalled: Error, CustomStringConvertible {
  let description: String
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
        "rows beside \(name)", "\(name) is not installed: Scripts/setup bench installs it.")
      return nil
    }
  }

  /// A PostgreSQL server of this run's own, whose commits are durable; `nil` where it does not start, and the report says why.
  func postgreSQL(_ report: inout Report) -> PrivatePostgreSQL? {
    // Not in a temporary folder, which may be memory, nor beside the build, where PostgreSQL's own user may not be let in.
    do { return try PrivatePostgreSQL(in: "/var/tmp", isDurable: true) } catch {
      report.leaveOut("rows of PostgreSQL", "\(error)")
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
