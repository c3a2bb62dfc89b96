import Foundation
import Testing

/// The sources of the rules: each decides from values alone.
@Suite struct RuleSourceTests {
  /// The parts of a source that rules may not have.
  private static func violations(in source: String) -> [String] {
    let code = source.split(separator: "\n").filter { !$0.drop { $0 == " " }.hasPrefix("//") }
      .joined(separator: "\n")
    return ["SignetSQL", "SQLConnection", "async", "throws", "await", "try"].filter { word in
      code.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.contains { $0 == word }
    }
  }

  @Test("no rule accesses the database, waits or throws")
  func pure() throws {
    let folder = URL(filePath: #filePath).appending(path: "../../../../Sources/SignetStorage/Rules")
      .standardized
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .filter { $0.pathExtension == "swift" }
    #expect(files.count > 5, "\(files.count) files were read")
    for file in files {
      let found = Self.violations(in: try String(contentsOf: file, encoding: .utf8))
      #expect(found == [], "\(file.lastPathComponent)")
    }
  }

  @Test(
    "code that accesses the database, waits or throws is found; words in comments are not",
    arguments: [
      ("import SignetSQL", ["SignetSQL"]),
      ("  func a(_ b: SQLConnection) throws {", ["SQLConnection", "throws"]),
      ("func a() async -> Int {", ["async"]), ("let b = try c()", ["try"]),
      ("  /// What it throws.\n  // try again\nlet trying = throwsNothing", []),
    ] as [(String, [String])])
  func search(_ source: String, _ found: [String]) {
    #expect(Self.violations(in: source) == found)
  }
}
