import SignetHTTPServer
import Synchronization
import Testing

/// The thread that resumes an answered connection, and that each is resumed once.
@Suite struct WakeUpsTests {
  private final class Resumed: Sendable {
    private let state = Mutex<[Int]>([])
    var all: [Int] { state.withLock { $0 } }
    func add(_ number: Int) { state.withLock { $0.append(number) } }
  }

  private let resumed = Resumed()
  private let wakeUps: WakeUps<Int>

  init() {
    wakeUps = WakeUps { [resumed] in resumed.add($0) }
  }

  @Test("the first task is resumed at once, the others by the thread it wakes")
  func wakesOnce() {
    for number in 1...3 { wakeUps.add(number) }
    #expect(resumed.all == [1])
    wakeUps.resumeOthers(after: 2)
    #expect(resumed.all == [1])
    wakeUps.resumeOthers(after: 1)
    #expect(resumed.all == [1, 2, 3])
    wakeUps.add(4)
    #expect(resumed.all == [1, 2, 3, 4])
  }

  @Test("a stopping thread leaves no task suspended, also after a late answer")
  func leavesNoneSuspended() {
    for number in 1...3 { wakeUps.add(number) }
    wakeUps.resumeAll()
    #expect(resumed.all == [1, 2, 3])
    for number in 4...5 { wakeUps.add(number) }
    #expect(resumed.all == [1, 2, 3, 4, 5])
    // The thread may still reach the callback of the first one.
    wakeUps.resumeOthers(after: 1)
    wakeUps.resumeAll()
    #expect(resumed.all == [1, 2, 3, 4, 5])
  }
}
