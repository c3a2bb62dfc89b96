import Foundation
import SignetTestKit
import Testing

/// Kills a program at one of its system calls, counted over all of its threads.
///
/// The program is not traced: a release build refuses to work under `strace`.
struct StepTrap: CustomStringConvertible {
  private static let script = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../Tools/kill-at-step").standardized.path
  private static let python = "/usr/bin/python3"

  /// Indicates whether the required program is installed.
  static var isThere: Bool {
    FileManager.default.isExecutableFile(atPath: python) || ContinuousIntegration.isHere
  }

  private let folder: TemporaryFolder
  private let calls: [String]
  private let control: String

  /// Prepares a trap.
  ///
  /// - Parameter calls: The names of the counted calls.
  /// - Throws: Errors of making a folder.
  init(_ calls: [String]) throws {
    (folder, self.calls) = (try TemporaryFolder(), calls)
    control = folder.file("step")
  }

  /// The launcher that starts a program and becomes its process.
  var launcher: [String] { [Self.python, "-I", "-S", Self.script, calls.joined(separator: ","), control] }

  /// Starts to count, and kills the program at a step.
  ///
  /// - Parameter step: The step, from 1; `nil` to count only.
  /// - Throws: Errors of writing a file.
  func arm(_ step: Int?) throws {
    try disarm()
    // Atomically, since the program may read it at this moment.
    try Data("\(step ?? 0)".utf8).write(to: URL(filePath: control), options: .atomic)
  }

  /// Stops counting and killing.
  func disarm() throws {
    for path in [control, "\(control).count"] where FileManager.default.fileExists(atPath: path) {
      try FileManager.default.removeItem(atPath: path)
    }
  }

  /// The number of steps since the trap was armed.
  var count: Int {
    get throws {
      guard FileManager.default.fileExists(atPath: "\(control).count") else { return 0 }
      return try number(in: "\(control).count")
    }
  }

  /// Indicates whether the program reached the step and was killed there.
  var wasSprung: Bool {
    get throws {
      let step = try number(in: control)
      return try step > 0 && count >= step
    }
  }

  private func number(in file: String) throws -> Int {
    try #require(Int(try String(contentsOfFile: file, encoding: .utf8)), "\(file) is no number")
  }

  var description: String {
    do { return "at step \(try String(contentsOfFile: control, encoding: .utf8))" } catch { return "unarmed" }
  }
}
