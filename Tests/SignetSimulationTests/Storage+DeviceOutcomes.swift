import AccountModel
import SignetCrypto
import SignetStorage

// Steps about devices.
extension Storage {
  /// Makes a step about a device.
  ///
  /// - Parameters:
  ///   - step: The step.
  ///   - event: Makes the events of the attempt.
  ///   - time: The time.
  /// - Returns: The outcome that the client sees.
  /// - Throws: ``StorageFailure``.
  func outcomeOfDevice(
    _ step: Step, _ event: @escaping @Sendable (String) -> AuditRecord, at time: Int64
  ) async throws -> String {
    let done = event("done")
    switch step {
    case .end(let container, let isWiped):
      let isFirst = try await endContainer(
        "\(container)", as: isWiped ? "wiped" : "deleted", audit: done, lost: losses(event))
      return isFirst ? "done" : "nothing"
    case .lockDevice(let user, let device, let order):
      guard let found = try await id(of: device, of: "\(user)") else { return "unknown" }
      return try await lockDevice(found, reason: "", audit: done) { container in
        (
          DeviceCommandRecord(id: "\(order)", container: container, action: .lock, reason: "", created: time),
          event("ordered \(order)")
        )
      }.word
    case .unlockDevice(let user, let device, let order):
      guard let found = try await id(of: device, of: "\(user)") else { return "unknown" }
      return try await unlockDevice(found, audit: done) { container in
        (
          DeviceCommandRecord(
            id: "\(order)", container: container, action: .unlock, reason: "", created: time),
          event("ordered \(order)")
        )
      }.word
    case .revokeDevice(let user, let device):
      guard let found = try await id(of: device, of: "\(user)") else { return "unknown" }
      return try await revokeDevice(found, audit: done, lost: losses(event)) ? "done" : "unknown"
    default: preconditionFailure("not about a device")
    }
  }

  /// The server's ID of a device, which an operator knows; it never changes.
  private func id(of device: UInt8, of user: UserID) async throws -> ID<DeviceRecord>? {
    let installation = Hex.encode(Sample.device(device))
    // Faults apply only to the step itself, not to this read.
    return try await suffering(
      StepFaults {
      } didEnd: {
      }
    ).devices(user: user)
      .first { $0.installation == installation }?.id
  }
}

extension DeviceLockOutcome {
  fileprivate var word: String {
    switch self {
    case .done: "done"
    case .toBeWiped: "to be wiped"
    case .unknown, .altered: "\(self)"
    }
  }
}
