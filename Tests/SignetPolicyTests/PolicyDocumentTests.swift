import Foundation
import SignetPolicy
import Testing

@Suite("Documents of policies")
struct PolicyDocumentTests {
  @Test("docs/policies.md has a row for each rule of a password, in the order of the JSON form")
  func rules() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let page = try String(contentsOf: root.appending(path: "docs/policies.md"), encoding: .utf8)
    let tables = page.split(separator: "\n\n").filter { $0.hasPrefix("| rule in JSON | code |") }
    let documented = tables.map { table in
      table.split(separator: "\n").dropFirst(2).filter { !$0.hasPrefix("| – |") }.map(String.init)
    }
    #expect(documented == PasswordPolicy.documentedRules, "copy the rows that PasswordRules declares")
  }
}
