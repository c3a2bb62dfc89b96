import SignetTestKit
import Testing

@Suite struct SeededRandomTests {
  private static func numbers(_ test: String, _ environment: [String: String] = [:], fresh: UInt64 = 1)
    -> [UInt64]
  {
    var random = SeededRandom(test: test, environment: environment, fresh: { fresh })
    return (0..<3).map { _ in random.next() }
  }

  @Test("without a variable, a test has the same numbers in each run, and two tests different ones")
  func constant() {
    #expect(Self.numbers("one", fresh: 1) == Self.numbers("one", fresh: 2))
    #expect(Self.numbers("one") != Self.numbers("two"))
  }

  @Test("a long run starts from a fresh seed") func fresh() {
    let long = ["SIGNET_KILLS": "50"]
    #expect(Self.numbers("one", long, fresh: 1) != Self.numbers("one", long, fresh: 2))
    #expect(SeededRandom(test: "one", environment: long, fresh: { 7 }).seed == 7)
  }

  @Test("SIGNET_SEED decides, in a long run too") func given() {
    let both = ["SIGNET_KILLS": "50", "SIGNET_SEED": "18446744073709551615"]
    #expect(SeededRandom(test: "one", environment: both, fresh: { 7 }).seed == .max)
    #expect(Self.numbers("one", both) == Self.numbers("two", ["SIGNET_SEED": "\(UInt64.max)"]))
  }
}
