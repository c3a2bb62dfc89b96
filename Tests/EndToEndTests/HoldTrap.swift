#if os(Linux)
  import Foundation
  import SignetTestKit
  import Testing

  /// Holds a program at chosen system calls until the test releases it, so that the test can inspect it in between.
  ///
  /// The program is not traced (seccomp_unotify(2)), and programs of root keep the rights that their files grant.
  final class HoldTrap: Sendable {
    /// A system call at which the program waits.
    struct Call: Sendable {
      /// The number of the call, from 1.
      let number: Int
      let name: String
      /// Its first argument, such as a descriptor.
      let argument: UInt64
      /// The process of the program, below any launcher.
      let process: Int32
    }

    private static let script = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../Tools/hold-at-call").standardized.path
    private static let python = "/usr/bin/python3"

    private let folder: TemporaryFolder
    /// The launcher that starts a program and becomes its process.
    let launcher: [String]

    /// Prepares a trap.
    ///
    /// - Parameters:
    ///   - calls: The names of the calls; for `write`, only those to standard output and standard error; for `munmap`, those of
    ///     16 MiB or more.
    ///   - program: The program's path; its launchers are not held.
    /// - Throws: Errors of making a folder.
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
    ///   - last: The previous call.
    ///   - process: The program.
    /// - Returns: The call; `nil` if the program has ended.
    /// - Throws: Errors of reading a file.
    func call(after last: Call?, of process: ChildProcess) async throws -> Call? {
      while true {
        // The order matters: a call that was held before the end is seen first.
        let isRunning = process.isRunning
        if let call = held, call.number > last?.number ?? 0 { return call }
        if !isRunning { return nil }
        try await Task.sleep(for: .milliseconds(2))
      }
    }

    /// The call at which the program waits, or its last call.
    var held: Call? {
      let bytes = FileManager.default.contents(atPath: folder.file("held")) ?? Data()
      let words = String(decoding: bytes, as: UTF8.self).split(separator: " ")
      guard words.count == 4, let number = Int(words[0]), let argument = UInt64(words[2]),
        let process = Int32(words[3])
      else { return nil }
      return Call(number: number, name: String(words[1]), argument: argument, process: process)
    }

    /// Releases one call.
    func letGo(_ call: Call) throws { try letGo(upTo: call.number) }

    /// Releases all further calls.
    func letGoAll() throws { try letGo(upTo: .max) }

    private func letGo(upTo number: Int) throws {
      try Data("\(number)".utf8).write(to: URL(filePath: folder.file("go")), options: .atomic)
    }
  }
#endif
