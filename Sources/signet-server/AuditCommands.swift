import SignetCrypto
import SignetDataDirectory
import SignetJSON
import SignetServer
import SignetStorage
import SignetSystem
import SignetTerminal

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// `signet-server audit …`.
enum AuditCommands {
  static let group = Command(
    "audit", "Read and verify the audit log", options: [OperatorOptions.json],
    commands: [list, verify])

  private static let list = Command(
    "list", "List the audit log, oldest entries first",
    options: OperatorOptions.connection.filter { $0 != OperatorOptions.json } + [
      .value("after", "Only entries after this number", named: "number", default: "0"),
      .value("limit", "The maximum number of entries", named: "n"),
    ], synonyms: ["show"]
  ) { arguments in
    guard let start = LogCursor(arguments.string("after")) else {
      throw UsageFailure.refused("--after must be a number, 0 or greater")
    }
    let limit = try arguments.optionalInteger("limit", in: 1...1_000_000) ?? .max
    return try await arguments.askPages(API.listAudit, limit: limit, pageSize: 1000) { last, count in
      AuditQuery(after: last?.next ?? start.description, limit: count)
    } elements: {
      $0.entries
    } show: { entries in
      arguments.output.print(
        [.init("NO.", .right), "TIME", "EVENT", "BY", "DETAILS"], try entries.map { try row($0) })
    }
  }

  /// Reads the members that all entries have in common.
  static func entry(_ object: JSONObject) throws(CommandFailure) -> AuditEntryDescription {
    do { return try AuditEntryDescription.shape.read(.object(object), "entry") } catch {
      throw OperatorClient.otherVersion(error)
    }
  }

  private static let common = Set(AuditEntryDescription.schema.members.map(\.name))

  private static func row(_ object: JSONObject) throws -> [String] {
    let entry = try entry(object)
    let details = object.members.filter { !common.contains($0.name) }
    return [
      String(entry.number), entry.time.map(utc) ?? "-", entry.event ?? "-", entry.by ?? "-",
      details.map { "\($0.name)=\(text($0.value))" }.joined(separator: " "),
    ]
  }

  private static func text(_ value: JSONValue) -> String {
    if case .string(let text) = value { text } else { value.text }
  }

  private static let verify = Command(
    "verify", "Verify the audit log's hash chain, without a server",
    description: """
      Reads the database of a data folder, or of a copy of one, and changes nothing. Each entry's hash \
      covers all entries before it, so a changed, removed or inserted entry is found, and named. Entries \
      missing at the end are found only with an earlier hash that was kept elsewhere: give it with --head.

      The exit status is 0 for an intact log and 1 otherwise.
      """,
    options: [
      OperatorOptions.requiredData,
      .value("head", "A hash that this command printed earlier, in hexadecimal", named: "hash"),
    ]
  ) { arguments in
    let heads = try arguments.optionalString("head").map(hashes) ?? []
    let report = try await report(arguments.string("data"), heads)
    if arguments.isSet("json") {
      arguments.output.print(json(report))
    } else {
      print(report, arguments)
    }
    return report.isIntact ? .success : .failure
  }

  /// Verifies the database file of a data folder or its copy, or the server's log in PostgreSQL.
  private static func report(_ folder: String, _ heads: [[UInt8]]) async throws -> AuditReport {
    let database = "\(folder)/signet.sqlite"
    if access(database, R_OK) == 0 {
      return try AuditLogFile(database: database).verify(expectedHeads: heads)
    }
    let cause = errno
    guard cause == ENOENT, access("\(folder)/server.json", R_OK) == 0,
      let storage = try DataDirectory(opening: folder).storageOnServer()
    else { throw InputFile.unreadable(database, TerminalText(ours: systemMessage(cause))) }
    do {
      let report = try await storage.verifyAudit(expectedHeads: heads)
      await storage.close()
      return report
    } catch {
      await storage.close()
      throw error
    }
  }

  /// Parses the hashes of a head, one for each chain.
  private static func hashes(_ text: String) throws(UsageFailure) -> [[UInt8]] {
    let refusal = UsageFailure.refused(
      "--head must be what 'audit verify' printed: 64 hexadecimal digits a chain")
    return try text.split(separator: ",", omittingEmptySubsequences: false).map {
      (part) throws(UsageFailure) in
      do {
        let bytes = try Hex.decode(String(part))
        guard bytes.count == 32 else { throw refusal }
        return bytes
      } catch { throw refusal }
    }
  }

  private static func text(of heads: [AuditChain]) -> String {
    heads.map { Hex.encode($0.hash) }.joined(separator: ",")
  }

  /// Returns a position in the log; SQLite has a single chain, which is not named.
  private static func text(of position: AuditVerification.Position) -> String {
    position.chain == 0 ? "entry \(position.number)" : "entry \(position.number) of chain \(position.chain)"
  }

  private static func json(_ report: AuditReport) -> JSONObject {
    var object: JSONObject = [
      "intact": .bool(report.isIntact), "entries": .integer(report.count),
      "head": .string(text(of: report.heads)),
    ]
    if let firstBreak = report.firstBreak {
      object["firstBadEntry"] = .integer(firstBreak.number)
      object["firstBadChain"] = .integer(firstBreak.chain)
    }
    if let position = report.expectedHeads.last { object["keptHeadEntry"] = .integer(position.number) }
    return object
  }

  private static func print(_ report: AuditReport, _ arguments: Arguments) {
    let output = arguments.output
    let verdict =
      if let firstBreak = report.firstBreak {
        output.styled("broken at \(text(of: firstBreak))", .red)
      } else if report.isIntact {
        output.styled("intact", .green)
      } else {
        output.styled(
          "the kept hash is not in it: entries are missing at the end, or it is another log", .red)
      }
    let isWhole = report.firstBreak == nil
    var fields = [
      (isWhole ? "Entries" : "Good entries", String(report.count)),
      (isWhole ? "Head" : "Their head", text(of: report.heads)),
    ]
    for position in report.expectedHeads { fields.append(("Kept hash", text(of: position))) }
    output.print("Audit log: \(verdict)")
    output.print(fields: fields, copying: ["Head"])
  }
}
