import BusFixture
import SignetBiometrics

extension FprintFixture {
  /// A gate on the bus of the fixture.
  func gate(timeLimit: Duration = .seconds(60)) -> FprintGate {
    FprintGate(address: bus.address, timeLimit: timeLimit)
  }
}
