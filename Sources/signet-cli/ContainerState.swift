import Signet
import SignetJSON

/// The lock state of a container's password, for a list.
enum ContainerState: CustomStringConvertible {
  case ready
  case failed(remaining: Int?)
  case waiting(seconds: Int64, remaining: Int?)
  case lockedOut
  case erased

  init(of container: Container, key: Key.Usage? = nil, on device: Device) async throws {
    let status: LockStatus
    do throws(SignetError) { status = try await device.lockStatus(of: container, key: key) } catch {
      guard error.number == SignetError.wiped.number else { throw error }
      self = .erased
      return
    }
    switch status {
    case .unlocked: self = .ready
    case .lastAttemptFailed(let remaining, let wait) where wait > .zero:
      // Rounded up, so that a retry after this time is not too early.
      let seconds = wait.components.seconds + (wait.components.attoseconds > 0 ? 1 : 0)
      self = .waiting(seconds: seconds, remaining: remaining)
    case .lastAttemptFailed(let remaining, _): self = .failed(remaining: remaining)
    case .lockedOut: self = .lockedOut
    }
  }

  var description: String {
    switch self {
    case .ready, .failed(nil): "active"
    case .failed(1?): "active, 1 try left"
    case .failed(let remaining?): "active, \(remaining) tries left"
    case .waiting(let seconds, _): "waits \(seconds) s"
    case .lockedOut: "locked"
    case .erased: "erased"
    }
  }

  var json: JSONObject {
    var (state, left, wait): (String, Int?, Int64?) = ("unlocked", nil, nil)
    switch self {
    case .ready: break
    case .failed(let remaining): (state, left) = ("lastAttemptFailed", remaining)
    case .waiting(let seconds, let remaining): (state, left, wait) = ("waiting", remaining, seconds)
    case .lockedOut: state = "lockedOut"
    case .erased: state = "erased"
    }
    var json: JSONObject = ["state": .string(state)]
    if let left { json["remaining"] = .integer(Int64(left)) }
    if let wait { json["retryAfter"] = .integer(wait) }
    return json
  }
}
