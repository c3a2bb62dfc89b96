import Signet
import SignetJSON
import SignetPolicy
import SignetVault
import Testing

@Suite struct AccountStateTests {
  @Test("times at the limits compare without a crash", arguments: [Int64.min, .max])
  func momentOutOfReach(wall: Int64) throws {
    let state = try AccountState(["used": ["wall": .integer(wall)]])
    let moment = try #require(state.used)
    let boot = BootInstant(bootID: BootID(high: 1, low: 2), millisecondsSinceBoot: 0)
    for now in [-1, 1] {
      let time = TrustedTime(boot: boot, millisecondsAwake: 0, wallSeconds: Int64(now))
      #expect(moment.isAhead(of: time) == (wall > 0))
      #expect((moment.seconds(until: time) > 0) == (wall < 0))
    }
  }
}
