import BusFixture
import SignetLinux

extension FprintFixture {
  /// A gate on the fixture's bus, whose time-out exceeds the delays of a busy machine.
  func gate(timeLimit: Duration = .seconds(3_600)) -> FprintGate {
    FprintGate(address: bus.address, timeLimit: timeLimit)
  }
}
