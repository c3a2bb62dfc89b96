import SignetStorage
import Testing

/// The verification of a log with several chains, and positions in it.
@Suite struct AuditVerificationTests {
  private static func entries(_ chain: Int64, _ texts: [String]) -> [AuditEntry] {
    var chain = AuditChain(chain)
    return texts.map { chain.append($0) }
  }

  private static func report(_ entries: [AuditEntry?], expectedHeads: [[UInt8]] = []) -> AuditReport {
    var verification = AuditVerification(expectedHeads: expectedHeads)
    for entry in entries { verification.verify(entry) }
    return verification.report
  }

  @Test("chains in any mixture are intact")
  func mixture() {
    let (first, second) = (Self.entries(0, ["a", "b"]), Self.entries(3, ["c", "d", "e"]))
    let report = Self.report([second[0], first[0], second[1], first[1], second[2]])
    #expect(report.isIntact && report.count == 5)
    #expect(report.heads.map(\.chain) == [0, 3] && report.heads.map(\.number) == [2, 3])
  }

  @Test("an entry of one chain is refused in another")
  func movedEntry() {
    let (first, second) = (Self.entries(0, ["a", "b"]), Self.entries(1, ["a", "b"]))
    #expect(first[0].hash != second[0].hash)
    var moved = second[1]
    moved.chain = 0
    let report = Self.report([first[0], moved, second[0], second[1]])
    #expect(report.firstBreak == .init(chain: 0, number: 2) && report.count == 3)
  }

  @Test("a chain that lost its end lacks the kept head; a row that no server wrote breaks chain 0")
  func losses() throws {
    let entries = Self.entries(2, ["a", "b", "c"])
    let heads = [entries[1].hash, entries[2].hash]
    let whole = Self.report(entries, expectedHeads: heads)
    #expect(
      whole.isIntact && whole.expectedHeads == [.init(chain: 2, number: 2), .init(chain: 2, number: 3)])
    let cut = Self.report(Array(entries[..<2]), expectedHeads: heads)
    #expect(!cut.isIntact && cut.missingHeadCount == 1 && cut.firstBreak == nil)
    #expect(Self.report([nil]).firstBreak == .init(chain: 0, number: 1))
    let empty = Self.report([], expectedHeads: [AuditChain().hash])
    #expect(empty.isIntact && empty.expectedHeads == [.init(chain: 0, number: 0)])
  }

  @Test("a position is a number, or the last number of each chain", arguments: ["0", "17", "0:3,2:9", "5:1"])
  func position(_ text: String) throws {
    #expect(try #require(LogCursor(text)).description == text)
  }

  @Test(
    "an invalid position is refused",
    arguments: ["", "x", "-1", "1:", ":1", "1:2:3", "0:1,0:2", "1,2", "1:-1", "9223372036854775808", "1, 2"])
  func noPosition(_ text: String) { #expect(LogCursor(text) == nil) }
}
