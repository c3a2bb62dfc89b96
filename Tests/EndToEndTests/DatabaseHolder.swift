import Foundation
import SignetTestKit
import Testing

/// Another process in the middle of a transaction: the `sqlite3` program.
final class DatabaseHolder {
  private let process: ChildProcess

  init(_ path: String) async throws {
    process = try ChildCommand(["/usr/bin/sqlite3", path], input: .pipe, output: .pipe).start()
    // The server may be writing at this moment.
    try process.input.write(contentsOf: Data(".timeout 20000\nBEGIN EXCLUSIVE; SELECT 'held';\n".utf8))
    #expect(await process.output.firstLine() == "held")
  }

  deinit { process.kill() }

  func release() async throws {
    try process.input.write(contentsOf: Data("ROLLBACK;\n.quit\n".utf8))
    #expect(try await process.end() == 0)
  }
}
