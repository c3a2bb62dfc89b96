#if os(Linux)
  import Foundation
  import SignetTestKit
  import Testing

  /// Holds a program at each of some of its system calls until it is let go on, and so lets a test look at it in between.
  ///
  /// The program is not traced (seccomp_unotify(2)), and root's programs keep what rights their files give them.
  final class HoldTrap: Sendable {
    /// A call at which the program waits.
    struct Call: Sendable {
      /// Which one, from 1 on.
      let number: Int
      /// Its name.
      let name: String
      /// Its first argument, such as a descriptor.
      let argument: UInt64
      /// The program's process, whatever started it.
      let process: Int32
    }

    private static let script = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../Tools/hold-at-call").standardized.path
    private static let python = "/usr/bin/python3"

    private let folder: TemporaryFolder
    /// What starts a program, which becomes its process.
    let launcher: [String]

    /// Prepares a trap.
    ///
    /// - Parameters:
    ///   - calls: The names of the calls; of `write` those to standard output and standard error count, of `munmap` those of 16 MiB
    ///     or more.
    ///   - program: The program's path: what starts it in turn is not held.
    /// - Throws: What making a folder fails with.
    init(_ calls: [String], of program: String) throws {
      folder = try TemporaryFolder()
      launcher = [
        Self.python, "-I", "-S", Self.script, URL(filePath: program).lastPathComponent,
        calls.joined(separator: ","),
        folder.path,
      ]
    }

    /// Waits for the next call.
    ///
    /// - Parameters:
    ///   - last: The one before.
    ///   - process: The program.
    /// - Returns: nil where the program has ended.
    /// - Throws: What reading a file fails with.
    func call(after last: Call?, of process: ChildProcess) async throws -> Call? {
      while true {
        // In this order: what was held before the end is seen before the end.
        let isRunning = process.isRunning
        if let call = held, call.number > last?.number ?? 0 { return call }
        if !isRunning { return nil }
        try await Task.sleep(for: .milliseconds(2))
      }
    }

    /// The call at which the program waits, or that it made last.
    var held: Call? {
      let bytes = FileManager.default.contents(atPath: folder.file("held")) ?? Data()
      let words = String(decoding: bytes, as: UTF8.self).split(separator: " ")
      guard words.count == 4, let number = Int(words[0]), let argument = UInt64(words[2]),
        let process = Int32(words[3])
      else { return nil }
      return Call(number: number, name: String(words[1]), argument: argument, process: process)
    }

    /// Lets the program make a call.
    func letGo(_ call: Call) throws { try letGo(upTo: call.number) }

    /// Lets the program make all calls from now on.
    func letGoAll() throws { try letGo(upTo: .max) }

    private func letGo(upTo number: Int) throws {
      try Data("\(number)".utf8).write(to: URL(filePath: folder.file("go")), options: .atomic)
    }
  }
#endif
