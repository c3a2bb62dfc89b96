import SignetProtocol
import SignetServer
import Testing

@Suite struct KeystoreRequirementTests {
  @Test func aServerAsksForHardware() throws {
    func device(_ keystore: DeviceDescription.Keystore, _ isSimulated: Bool) throws -> DeviceDescription {
      try DeviceDescription(
        id: [UInt8](repeating: 1, count: 16), name: "", platform: "linux", keystore: keystore,
        isSimulated: isSimulated)
    }
    for (keystore, isSimulated, accepted) in [
      (DeviceDescription.Keystore.software, false, [KeystoreRequirement.any]), (.software, true, [.any]),
      (.tpm2, true, [.any, .simulated]), (.tpm2, false, [.any, .simulated, .hardware]),
      (.secureEnclave, false, [.any, .simulated, .hardware]),
    ] {
      let description = try DeviceDescription(device(keystore, isSimulated).json)
      #expect(description.isSimulated == isSimulated)
      #expect(KeystoreRequirement.allCases.filter { $0.accepts(description) } == accepted)
    }
  }
}
