import Foundation
import Testing

/// The simulation alone decides the order of tasks and the time; no tested code does.
@Suite struct SimulationSourceTests {
  @Test(
    "services, storage and databases use the injected clock only, and no dispatch queue",
    arguments: ["SignetServer", "SignetStorage", "SignetSQL"])
  func waits(_ module: String) throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Sources/\(module)").standardized
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter {
      $0.hasSuffix(".swift")
    }
    try #require(names.count > 10)
    let seams =
      /Task\.sleep|(Continuous|Suspending)Clock(\.now|\.Instant|\(\)\.)|import Dispatch|Dispatch(Queue|Semaphore|Source|Group)\b/
    // It waits for other processes that open a new file, as SQLite itself does; no simulation opens one.
    let allowed = "SQLite/SQLiteSession.swift"
    for name in names where name != allowed {
      let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
      #expect(text.firstMatch(of: seams)?.output.0 == nil, "\(module)/\(name)")
    }
  }
}
