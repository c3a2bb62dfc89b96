import Foundation
import SignetStorage
import Testing

/// The kinds of authenticators in the sources: files about all kinds must name none.
@Suite struct AuthenticatorTableTests {
  private static let list = "Authenticators/AuthenticatorTable.swift"
  private static let cases = Set(AuthenticatorRecord.Kind.allCases.map { ".\($0)" })

  /// The prefixes of files about one kind; every other file is about all kinds.
  private static let own = [
    "Authenticators/",
    "Records/Account", "Records/Activation", "Records/Container", "Records/Credential", "Records/PushAuth",
    "Records/PushTarget", "Records/UAF",
    "Rules/Container", "Rules/PushApp", "Rules/UAF",
    "Steps/Storage+Accounts", "Steps/Storage+Activations", "Steps/Storage+Codes", "Steps/Storage+Containers",
    "Steps/Storage+Credentials", "Steps/Storage+Lifetime", "Steps/Storage+Push.", "Steps/Storage+PushAuth",
    "Steps/Storage+UAF",
  ]

  /// The names that other files may use, with the reasons.
  private static let allowed: [String: Set<String>] = [
    // The list of all kinds.
    list: cases,
    // An authenticator has the record of its kind.
    "Records/AuthenticatorRecord.swift": cases,
    // An event that the outbox publishes has the authenticator's kind.
    "Audit/AuditEvent.swift": cases,
    // A container decides, or digits of one are carried.
    "Rules/TransactionEnd.swift": [".container"],
    "Steps/Storage+Transactions.swift": [".container"],
    "Steps/Storage+Initiated.swift": [".container"],
    // A request that one operation asks alone, not an authenticator.
    "Records/OpenRequestRecord.swift": [".uaf"],
    "Steps/Storage+OpenRequests.swift": ["uaf_sessions"],
    "Steps/Storage+RequestBudget.swift": ["uaf_sessions"],
  ]

  @Test("each kind has tables, and no table belongs to two kinds")
  func tables() {
    for kind in AuthenticatorRecord.Kind.allCases { #expect(!kind.tableNames.isEmpty, "\(kind)") }
    let all = AuthenticatorRecord.Kind.allCases.flatMap(\.tableNames)
    #expect(Set(all).count == all.count, "\(all)")
  }

  @Test("a file about all kinds names no single kind and none of its tables")
  func shared() throws {
    var seen: Set<String> = []
    let sources = try Self.sources()
    let records = Self.records(in: sources.map(\.text))
    // The control: the search finds the tables of records.
    #expect(records["UAFOperationRecord"] == "uaf_sessions" && records.count > 10, "\(records)")
    for (file, text) in sources {
      let isOwn = file != Self.list && Self.own.contains { file.hasPrefix($0) }
      let named = Self.named(in: text, records)
      if isOwn {
        seen.formUnion(named)
      } else {
        #expect(named.subtracting(Self.allowed[file] ?? []).sorted() == [], "\(file)")
      }
    }
    // The control: the search finds existing names.
    let all = AuthenticatorRecord.Kind.allCases.flatMap(\.tableNames)
    #expect(Set(all).subtracting(seen).sorted() == [], "found in no file of its kind")
  }

  @Test(
    "a table or kind is found in every spelling",
    arguments: [
      ("try execute(\"DELETE FROM containers\")", ["containers"]),
      ("\"\"\"\n  SELECT 1 FROM users JOIN\n    credentials ON x\n\"\"\"", ["credentials"]),
      ("for table in [\"uaf_targets\", \"activations\"] {", ["activations", "uaf_targets"]),
      ("AND NOT EXISTS (SELECT 1 FROM uaf_sessions)", ["uaf_sessions"]),
      ("WHERE kind = 'push-app'", ["'push-app'"]),
      ("case .uaf, .pushApp: nil", [".pushApp", ".uaf"]),
      ("where kind == .otp {", [".otp"]),
      ("let open: [UAFOperationRecord] = try records(\"WHERE txn = $1\", id)", ["uaf_sessions"]),
      ("let next: UAFOperationRecord? = try database.record(\"WHERE id = $1\", id)", ["uaf_sessions"]),
      ("func open() throws -> [UAFOperationRecord] { try records(\"WHERE txn = $1\") }", ["uaf_sessions"]),
      // Not matched: a comment, a name that is a word, a property, a case with values of another type.
      ("  // SELECT 1 FROM containers, kind .uaf\nlet credentials = containers", []),
      ("end.container ?? decision?.container, of: .container(id), \\.uaf", []),
    ] as [(String, [String])])
  func search(_ text: String, _ found: [String]) {
    #expect(Self.named(in: text, ["UAFOperationRecord": "uaf_sessions"]).sorted() == found)
  }

  // MARK: The sources

  /// The files of `SignetStorage`, with their relative paths.
  private static func sources() throws -> [(file: String, text: String)] {
    let folder = URL(filePath: #filePath).appending(path: "../../../Sources/SignetStorage").standardized
    let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
    var found: [(String, String)] = []
    for case let file as URL in files where file.pathExtension == "swift" {
      let path = file.standardized.path.dropFirst(folder.path.count).drop { $0 == "/" }
      found.append((String(path), try String(contentsOf: file, encoding: .utf8)))
    }
    #expect(found.count > 60, "\(found.count) files were read")
    return found
  }

  /// The table of each stored record.
  private static func records(in sources: [String]) -> [String: String] {
    var tables: [String: String] = [:]
    for source in sources {
      for match in source.matches(
        of: /extension (\w+): [^{]*StoredRecord[^{]*\{\s*(?:package |public )?static let table = "(\w+)"/
      ) {
        tables[String(match.1)] = String(match.2)
      }
    }
    return tables
  }

  /// The kinds, and their tables, that a source names outside of comments.
  private static func named(in source: String, _ records: [String: String]) -> Set<String> {
    let text = source.split(separator: "\n", omittingEmptySubsequences: false)
      .filter { !$0.drop { $0 == " " }.hasPrefix("//") }.joined(separator: "\n")
    var found: Set<String> = []
    for match in text.matches(of: /(?:\b(?:FROM|JOIN|INTO|UPDATE)\s+|")(\w+)\b/) {
      found.insert(String(match.1))
    }
    // No other word has such a name.
    for match in text.matches(of: /\b\w+_\w+\b/) { found.insert(String(match.0)) }
    // A query that reads records names its table by their type alone.
    for match in text.matches(
      of: /(?::|->) \[?(\w+Record)\]?\??(?: =| \{)\s+(?:return )?try (?:\w+\.)?(?:intactRecords|records?)\(/)
    {
      if let table = records[String(match.1)] { found.insert(table) }
    }
    found.formIntersection(AuthenticatorRecord.Kind.allCases.flatMap(\.tableNames))
    for kind in AuthenticatorRecord.Kind.allCases {
      if text.contains("'\(kind.rawValue)'") { found.insert("'\(kind.rawValue)'") }
    }
    for match in text.matches(of: /(?:^|[\s(\[,!])(\.\w+)\b(?!\()/.anchorsMatchLineEndings())
    where cases.contains(String(match.1)) {
      found.insert(String(match.1))
    }
    return found
  }
}
