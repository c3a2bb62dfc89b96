import AccountModel
import SignetCrypto
import SignetStorage

// What befalls devices.
extension Storage {
  /// Takes a step about a device.
  ///
  /// - Parameters:
  ///   - step: The step.
  ///   - event: Makes the events of the attempt.
  ///   - time: When.
  /// - Returns: What the client hears.
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

  /// What the server calls a device, which an operator knows; it is always the same.
  private func id(of device: UInt8, of user: UserID) async throws -> ID<DeviceRecord>? {
    let installation = Hex.encode(Sample.device(device))
    // What goes wrong is kept for the step itself.
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
