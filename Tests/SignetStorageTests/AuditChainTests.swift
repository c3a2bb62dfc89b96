import SignetStorage
import Testing

/// The hash chain of the audit log, compared with values from `sha256sum`.
@Suite struct AuditChainTests {
  private static func hex(_ bytes: [UInt8]) -> String {
    bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  @Test func isWhatTheProtocolSays() {
    var chain = AuditChain()
    let entries = [chain.append(#"{"event":"a"}"#), chain.append("{}")]
    #expect(entries.map(\.number) == [1, 2])
    #expect(
      entries.map { Self.hex($0.hash) } == [
        "e2e0cf1e4e34958ce5659dd8c3bae78c0e6cc57bd516298b849d6faedddc6bb1",
        "4d0ac034c096fc4ef55e82b8ec8c4a5d11ad9a6256b68b8bfde3e9b689467ed6",
      ])
  }

  @Test func findsEveryChange() {
    var chain = AuditChain()
    let entries = (1...5).map { chain.append("{\"n\":\($0)}") }
    func verified(_ entries: [AuditEntry]) -> Int {
      var chain = AuditChain()
      return entries.prefix { chain.verify($0) }.count
    }
    #expect(verified(entries) == 5)
    var changed = entries
    changed[2].text = "{\"n\":30}"
    #expect(verified(changed) == 2)
    changed = entries
    changed[3].hash[0] ^= 1
    #expect(verified(changed) == 3)
    changed = entries
    changed.remove(at: 1)
    #expect(verified(changed) == 1)
    changed = entries
    changed.swapAt(0, 1)
    #expect(verified(changed) == 0)
    changed = entries
    changed[4].number = 6
    #expect(verified(changed) == 4)
  }
}
