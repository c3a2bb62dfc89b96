import BenchReport
import Foundation
import SignetTestKit

/// All measurements, one group after the other.
enum Benchmarks {
  /// Runs the selected groups, prints the table and writes the JSON.
  ///
  /// - Returns: The exit status: 1 if a group failed, or if a goal is missed and the options do not allow that. In CI, where
  ///   everything is installed, also 1 if a part was left out.
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

  /// Prints progress on standard error, so that standard output has only the table.
  static func progress(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }
}

/// A requirement of a group that this system lacks.
struct NotInstalled: Error, CustomStringConvertible {
  let description: String
}

/// The shared setup of all groups.
struct Bench: Sendable {
  let options: Options
  /// Short turns, many rounds: a quarter of a minute for three contenders.
  let race: Race

  init(_ options: Options) {
    self.options = options
    race = Race(rounds: options.times(151), turn: 10e6)
  }

  /// Returns the installed peers, and reports the others as left out.
  func peers(_ names: [String], _ report: inout Report) throws -> [Peer] {
    try names.compactMap { name in
      if let peer = try Peer(name, in: options.peers) { return peer }
      report.leaveOut(
        "rows beside \(name)", "\(name) is not installed: Scripts/setup bench installs it.")
      return nil
    }
  }

  /// Starts a private PostgreSQL server with durable commits; returns `nil` if it does not start, and reports the reason.
  func postgreSQL(_ report: inout Report) -> PrivatePostgreSQL? {
    // Not in a temporary folder, which may be in memory, nor next to the build, where PostgreSQL's user may lack access.
    do { return try PrivatePostgreSQL(in: "/var/tmp", isDurable: true) } catch {
      report.leaveOut("rows of PostgreSQL", "\(error)")
      return nil
    }
  }

  /// Makes a folder for databases on the build's disk, since a temporary folder may be in memory.
  func workFolder() throws -> WorkFolder { try WorkFolder(in: options.work) }
}

/// A folder that is removed with its last reference.
final class WorkFolder: Sendable {
  let path: String

  init(in directory: String) throws {
    path = URL(fileURLWithPath: directory).appendingPathComponent("bench-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  deinit {
    do { try FileManager.default.removeItem(atPath: path) } catch {}  // `make clean` removes the rest
  }
}
