import BusFixture
import SignetBiometrics

extension FprintFixture {
  /// A gate on the bus of the fixture, whose sensor waits longer than a busy machine takes to lay a finger on it.
  func gate(timeLimit: Duration = .seconds(3_600)) -> FprintGate {
    FprintGate(address: bus.address, timeLimit: timeLimit)
  }
}
