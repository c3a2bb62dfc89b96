import Foundation
import SignetTestKit
import Testing

/// Kills a program that it starts at one of its system calls, in the order in which all of its threads make them.
///
/// The program is not traced: under `strace` a release build refuses to do anything.
struct StepTrap: CustomStringConvertible {
  private static let script = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../Tools/kill-at-step").standardized.path
  private static let python = "/usr/bin/python3"

  /// Whether what it needs is installed.
  static var isThere: Bool {
    FileManager.default.isExecutableFile(atPath: python) || ContinuousIntegration.isHere
  }

  private let folder: TemporaryFolder
  private let calls: [String]
  private let control: String

  /// Prepares a trap.
  ///
  /// - Parameter calls: The calls that are counted.
  /// - Throws: What making a folder fails with.
  init(_ calls: [String]) throws {
    (folder, self.calls) = (try TemporaryFolder(), calls)
    control = folder.file("step")
  }

  /// What starts a program, which becomes its process.
  var launcher: [String] { [Self.python, "-I", "-S", Self.script, calls.joined(separator: ","), control] }

  /// Counts from here on, and kills the program at a step.
  ///
  /// - Parameter step: The first is 1; nil to count alone.
  /// - Throws: What writing a file fails with.
  func arm(_ step: Int?) throws {
    try disarm()
    // In one go, since the program may be about to look.
    try Data("\(step ?? 0)".utf8).write(to: URL(filePath: control), options: .atomic)
  }

  /// Stops counting and killing.
  func disarm() throws {
    for path in [control, "\(control).count"] where FileManager.default.fileExists(atPath: path) {
      try FileManager.default.removeItem(atPath: path)
    }
  }

  /// The steps that were made since it was armed.
  var count: Int {
    get throws {
      guard FileManager.default.fileExists(atPath: "\(control).count") else { return 0 }
      return try number(in: "\(control).count")
    }
  }

  /// Whether the program has come to the step, and was killed there.
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
