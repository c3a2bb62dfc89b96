import Foundation
import SignetPolicy
import Testing

@Suite("Policy documents")
struct PolicyDocumentTests {
  private let page: String

  init() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    page = try String(contentsOf: root.appending(path: "docs/policies.md"), encoding: .utf8)
  }

  /// The rows of the tables whose heads begin so, without their heads.
  private func rows(under head: String) -> [[String]] {
    page.split(separator: "\n\n").filter { $0.hasPrefix(head) }.map { table in
      table.split(separator: "\n").dropFirst(2).map(String.init)
    }
  }

  @Test("docs/policies.md has a row for each rule of a password, in the order of the JSON form")
  func rules() {
    let documented = rows(under: "| rule in JSON | code |").map { rows in
      rows.filter { !$0.hasPrefix("| – |") }
    }
    #expect(documented == PasswordPolicy.documentedRules, "copy the rows that PasswordRules declares")
  }

  @Test("docs/policies.md has a row for each type of protection and of lock, with the rules of a lock")
  func types() throws {
    let protections = try #require(rows(under: "| type in JSON | `TYPE=` |").first)
    #expect(protections.count == ProtectionPolicy.typeNames.count)
    for name in ProtectionPolicy.typeNames {
      #expect(
        protections.contains { $0.hasPrefix("| `\(name)`") && $0.contains("| `\(name.lowercased())` |") })
    }
    let locks = try #require(rows(under: "| type in JSON | `LOCKTYPE=` |").first)
    #expect(locks.count == LockPolicy.typeNames.count)
    for name in LockPolicy.typeNames {
      let row = try #require(locks.first { $0.hasPrefix("| `\(name)` | `\(name.lowercased())` |") })
      for rule in LockPolicy.ruleNames(ofType: name) where rule != "atLimit" {
        #expect(row.contains("`\(rule)`"), "\(name)")
      }
    }
  }
}
