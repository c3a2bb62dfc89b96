import SignetCrypto
import SignetFiles
import SignetJSON
import SignetServer
import SignetStorage
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
      .value("after", "Only entries after the one of this number", named: "number", default: "0"),
      .value("limit", "At most so many entries", named: "n"),
    ]
  ) { arguments in
    let client = try OperatorClient(arguments, as: .admin)
    var last = Int64(try arguments.integer("after", in: 0...Int.max))
    var remaining = try arguments.optionalInteger("limit", in: 1...1_000_000) ?? .max
    var entries: [JSONObject] = []
    while remaining > 0 {
      let limit = Int64(min(remaining, pageSize))
      let page = try objects(
        "entries", in: try await client.get("admin", "audit", query: ["after": last, "limit": limit]))
      guard let final = page.last else { break }
      entries += page
      remaining -= page.count
      last = try final.integer("number")
    }
    if arguments.isSet("json") {
      arguments.output.print(["entries": .array(entries.map { .object($0) })])
    } else {
      arguments.output.print(try table(entries))
    }
    return .success
  }

  private static let pageSize = 1000

  private static func table(_ entries: [JSONObject]) throws -> TextTable {
    var table = TextTable([TextTable.Column("NO.", .right), "TIME", "EVENT", "BY", "DETAILS"])
    for entry in entries {
      let details = entry.members.filter { !["number", "time", "event", "by", "hash"].contains($0.name) }
      table.append([
        String(try entry.integer("number")), try entry.optionalInteger("time").map(utc) ?? "-",
        try entry.optionalString("event") ?? "-", try entry.optionalString("by") ?? "-",
        details.map { "\($0.name)=\(Self.text($0.value))" }.joined(separator: " "),
      ])
    }
    return table
  }

  private static func text(_ value: JSONValue) -> String {
    if case .string(let text) = value { text } else { value.text }
  }

  private static let verify = Command(
    "verify", "Verify the audit log's hash chain, without a server",
    description: """
      Reads the database of a data folder, or of a copy of one, and changes nothing. Each entry's hash covers \
      all entries before it, so a changed, removed or inserted entry is found, and named. Entries missing at \
      the end are found only by whoever kept an earlier hash elsewhere: give it with --head.

      The exit status is 0 for an intact log and 1 for another.
      """,
    options: [
      OperatorOptions.requiredData,
      .value("head", "A hash that this command printed earlier, in hexadecimal", named: "hash"),
    ]
  ) { arguments in
    let head = try arguments.optionalString("head").map(hash)
    let database = "\(arguments.string("data"))/signet.sqlite"
    guard access(database, R_OK) == 0 else {
      throw InputFile.unreadable(database, systemMessage(errno))
    }
    let report = try AuditLogFile(database: database).verify(head: head)
    if arguments.isSet("json") {
      arguments.output.print(json(report))
    } else {
      print(report, arguments)
    }
    return report.isIntact ? .success : .failure
  }

  private static func hash(_ text: String) throws(UsageFailure) -> [UInt8] {
    let refusal = UsageFailure.refused("--head is 64 hexadecimal digits")
    do {
      let bytes = try Hex.decode(text)
      guard bytes.count == 32 else { throw refusal }
      return bytes
    } catch { throw refusal }
  }

  private static func json(_ report: AuditLogFile.Report) -> JSONObject {
    var object: JSONObject = [
      "intact": .bool(report.isIntact), "entries": .integer(report.count),
      "head": .string(Hex.encode(report.head)),
    ]
    if let bad = report.firstBadEntry { object["firstBadEntry"] = .integer(bad) }
    if let number = report.keptHeadNumber { object["keptHeadEntry"] = .integer(number) }
    return object
  }

  private static func print(_ report: AuditLogFile.Report, _ arguments: Arguments) {
    let output = arguments.output
    let verdict =
      if let bad = report.firstBadEntry {
        output.styled("broken at entry \(bad)", .red)
      } else if report.isIntact {
        output.styled("intact", .green)
      } else {
        output.styled(
          "the kept hash is not in it: entries are missing at the end, or it is another log", .red)
      }
    let isWhole = report.firstBadEntry == nil
    var fields = [
      (isWhole ? "Entries" : "Good entries", String(report.count)),
      (isWhole ? "Head" : "Their head", Hex.encode(report.head)),
    ]
    if let number = report.keptHeadNumber { fields.append(("Kept hash", "entry \(number)")) }
    output.print("Audit log: \(verdict)")
    output.print(fields: fields)
  }
}
