package import Signet
import SignetCrypto
import SignetIntegrity
import SignetJSON

/// An answer of the agent.
///
/// A key is sent after it, never in it.
package enum AgentAnswer: Hashable, Sendable {
  case state(SessionState)
  case done
  case key(salt: [UInt8])
  case failure(SignetError)

  package init(parsing bytes: [UInt8]) throws(MalformedMessage) {
    let object = try JSONObject(message: bytes)
    switch try object.text("result") {
    case "done":
      try object.only("result")
      self = .done
    case "unlocked":
      try object.only("result")
      self = .state(.unlocked)
    case "locked":
      try object.only("result", "reason")
      self = .state(.locked(try Self.reason(object)))
    case "key":
      try object.only("result", "salt")
      self = .key(salt: try object.bytes("salt", count: 32))
    case "failure": self = .failure(try Self.failure(object))
    default: throw MalformedMessage()
    }
  }

  package var bytes: [UInt8] {
    var object = JSONObject()
    switch self {
    case .done: object["result"] = "done"
    case .state(.unlocked): object["result"] = "unlocked"
    case .state(.locked(let reason)):
      object["result"] = "locked"
      object["reason"] = .string(reason.rawValue)
    case .key(let salt):
      object["result"] = "key"
      object["salt"] = .string(Base64URL.encode(salt))
    case .failure(let failure):
      object["result"] = "failure"
      Self.write(failure, to: &object)
    }
    return JSONValue.object(object).bytes
  }

  private static func reason(_ object: JSONObject) throws(MalformedMessage) -> LockReason {
    guard let reason = LockReason(rawValue: try object.text("reason")) else { throw MalformedMessage() }
    return reason
  }

  private static func method(_ object: JSONObject) throws(MalformedMessage) -> UnlockMethod {
    guard let method = UnlockMethod(rawValue: try object.text("reason")) else { throw MalformedMessage() }
    return method
  }

  /// Writes a failure: those that an app acts on have names, all others are sent as a sentence.
  private static func write(_ failure: SignetError, to object: inout JSONObject) {
    switch failure {
    case .wrongPassword(let remaining):
      object["failure"] = "wrongPassword"
      if let remaining { object["remaining"] = .integer(Int64(remaining)) }
    case .passwordRequired: object["failure"] = "passwordRequired"
    case .lockedOut: object["failure"] = "lockedOut"
    case .noSuchContainer: object["failure"] = "noSuchContainer"
    case .biometrics(let failure):
      (object["failure"], object["reason"]) = ("biometrics", .string(failure.protocolName))
      if case .unavailable(let detail) = failure { object["detail"] = .string(String(detail.prefix(500))) }
    case .passcode(let failure):
      (object["failure"], object["reason"]) = ("passcode", .string(failure.protocolName))
      if case .unavailable(let detail) = failure { object["detail"] = .string(String(detail.prefix(500))) }
    case .biometricsInvalidated: object["failure"] = "invalidated"
    case .unlockMethodNotEnabled(let method):
      (object["failure"], object["reason"]) = ("notEnabled", .string(method.rawValue))
    case .unlockMethodNotOffered(let method):
      (object["failure"], object["reason"]) = ("notOffered", .string(method.rawValue))
    case .appData(.locked(let reason)):
      object["failure"] = "locked"
      object["reason"] = .string(reason.rawValue)
    case .appData(.invalidLabel): object["failure"] = "invalidLabel"
    case .sharedSession(.refused): object["failure"] = "refused"
    case .sharedSession(.busy): object["failure"] = "busy"
    case .sharedSession(.protocolBroken): object["failure"] = "protocol"
    case .integrity(.tampered(let report)):
      (object["failure"], object["detail"]) = ("tampered", .string(String(report.summary.prefix(1000))))
    case .sharedSession(.tampered(let summary)):
      (object["failure"], object["detail"]) = ("tampered", .string(String(summary.prefix(1000))))
    case .sharedSession(.failed(let detail)):
      (object["failure"], object["detail"]) = ("failed", .string(detail))
    default:
      object["failure"] = "failed"
      object["detail"] = .string(String(failure.description.prefix(500)))
    }
  }

  private static func failure(_ object: JSONObject) throws(MalformedMessage) -> SignetError {
    try object.only("result", "failure", "remaining", "reason", "detail")
    switch try object.text("failure") {
    case "wrongPassword":
      guard object.contains("remaining") else { return .wrongPassword(remaining: nil) }
      return .wrongPassword(remaining: Int(try object.number(atMost: 1_000_000, "remaining")))
    case "passwordRequired": return .passwordRequired
    case "lockedOut": return .lockedOut
    case "noSuchContainer": return .noSuchContainer
    case "biometrics":
      let protocolName = try object.text("reason")
      let detail = object.contains("detail") ? try object.text("detail") : ""
      guard let failure = BiometricFailure(protocolName: protocolName, detail: detail) else {
        throw MalformedMessage()
      }
      return .biometrics(failure)
    case "passcode":
      let protocolName = try object.text("reason")
      let detail = object.contains("detail") ? try object.text("detail") : ""
      guard let failure = DevicePasscodeFailure(protocolName: protocolName, detail: detail) else {
        throw MalformedMessage()
      }
      return .passcode(failure)
    case "invalidated": return .biometricsInvalidated
    case "notEnabled": return .unlockMethodNotEnabled(try method(object))
    case "notOffered": return .unlockMethodNotOffered(try method(object))
    case "locked": return .appData(.locked(try reason(object)))
    case "invalidLabel": return .appData(.invalidLabel)
    case "refused": return .sharedSession(.refused)
    case "busy": return .sharedSession(.busy)
    case "protocol": return .sharedSession(.protocolBroken)
    case "tampered": return .sharedSession(.tampered(try object.text("detail")))
    case "failed": return .sharedSession(.failed(try object.text("detail")))
    default: throw MalformedMessage()
    }
  }
}
