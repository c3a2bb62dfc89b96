public import SignetJSON
import SignetOATH
public import SignetPolicy

/// What a container will hold and what opens it (`docs/protocol.md` section 3.4).
public struct ContainerProfile: Hashable, Sendable {
  /// The keys of a container that can have a protection of their own.
  public enum KeyName: String, Hashable, Sendable, CaseIterable {
    /// What signs decisions about transactions.
    case signing
    /// What one-time codes are made with.
    case otp
    /// What carries everything that device and server say to each other.
    case session
  }

  /// What opens the container, and with it every key that has no protection of its own.
  public var protection: ProtectionPolicy
  /// The protection of each key that has its own: it asks for another password than the container's.
  public var keys: [KeyName: ProtectionPolicy] = [:]
  /// The label of the one-time password key: 1 to 64 characters.
  public var otpLabel: String
  /// How codes are computed.
  public var totp: TOTPParameters
  /// Whether the one-time password secret may leave the device, for another authenticator.
  public var isOTPExportable = false

  /// What the device has to be like, or it locks the container.
  public var accountPolicies = AccountPolicySet()

  /// Puts a profile together.
  public init(protection: ProtectionPolicy, otpLabel: String = "otp", totp: TOTPParameters) {
    (self.protection, self.otpLabel, self.totp) = (protection, otpLabel, totp)
  }

  /// Reads a profile.
  ///
  /// - Throws: ``WireFailure``.
  public init(_ object: JSONObject) throws(WireFailure) {
    do {
      protection = try ProtectionPolicy(object.wireObject("protection"))
    } catch let failure as WireFailure {
      throw failure
    } catch {
      throw .invalid(member: "protection", reason: "is no policy of this version: \(error)")
    }
    keys = try Self.keys(object)
    let otp = try object.wireObject("otp")
    guard try otp.wireName("type") == "totp" else {
      throw .invalid(member: "otp", reason: "is of a type that this version does not know")
    }
    otpLabel = try otp.wireString("label")
    guard (1...64).contains(otpLabel.unicodeScalars.count),
      otpLabel.unicodeScalars.allSatisfy({ DisplayText.isPlain($0) && $0 != "\n" })
    else {
      throw .invalid(member: "label", reason: "has 1 to 64 characters, none of them a control character")
    }
    totp = try TOTPParameters(otp)
    isOTPExportable = try Wire.reading(otp.optionalBool("exportable")) ?? false
    guard object.contains("policies") else { return }
    let policies = try object.wireObject("policies")
    do { accountPolicies = try AccountPolicySet(policies) } catch {
      throw .invalid(member: "policies", reason: "are no account policies: \(error)")
    }
  }

  /// What opens a key: its own protection or, where it has none, the container's; the device in the case of the session key.
  public func protection(of key: KeyName) -> ProtectionPolicy {
    keys[key] ?? (key == .session ? .device : protection)
  }

  /// Why a key cannot have this protection; `nil` where it can.
  ///
  /// - Parameters:
  ///   - protection: What is meant to open it.
  ///   - key: Which key.
  /// - Returns: What continues a sentence that begins with what was given.
  public static func objection(to protection: ProtectionPolicy, of key: KeyName) -> String? {
    switch protection {
    case .biometric, .devicePasscode:
      "is opened by the device, or with a password; use another type"
    // Anybody may send a request with a wrong signature: where the server counted those, anybody could lock anybody out.
    case _ where key == .session && protection.lockPolicy == .silent:
      "has no silent lock: the server does not count its wrong passwords; use another lock"
    default: nil
    }
  }

  private static func keys(_ object: JSONObject) throws(WireFailure) -> [KeyName: ProtectionPolicy] {
    guard object.contains("keys") else { return [:] }
    var keys: [KeyName: ProtectionPolicy] = [:]
    for (name, value) in try object.wireObject("keys").members {
      // To skip a key that is not known would be to leave it without its protection.
      guard let key = name.utf8.count <= 16 ? KeyName(rawValue: name) : nil, case .object(let policy) = value
      else {
        throw .invalid(member: "keys", reason: "has a member that this version does not know")
      }
      do { keys[key] = try ProtectionPolicy(policy) } catch {
        throw .invalid(member: name, reason: "is no policy of this version: \(error)")
      }
      if let objection = keys[key].flatMap({ objection(to: $0, of: key) }) {
        throw .invalid(member: name, reason: objection)
      }
    }
    return keys
  }

  /// The names of all members of a profile.
  package static let memberNames = ["protection", "keys", "otp", "policies"]
  /// The names of all members of `otp` in a profile.
  package static let otpMemberNames = ["label", "type", "algorithm", "digits", "period", "exportable"]

  /// The profile as the protocol writes it.
  public var json: JSONObject {
    var otp: JSONObject = [
      "label": .string(otpLabel), "type": "totp", "algorithm": .string(totp.algorithm.rawValue),
      "digits": .integer(Int64(totp.digits)), "period": .integer(Int64(totp.period)),
    ]
    if isOTPExportable { otp["exportable"] = true }
    var object = JSONObject()
    object["protection"] = .object(protection.json)
    if !keys.isEmpty {
      var own = JSONObject()
      for key in KeyName.allCases {
        if let protection = keys[key] { own[key.rawValue] = .object(protection.json) }
      }
      object["keys"] = .object(own)
    }
    object["otp"] = .object(otp)
    if !accountPolicies.isEmpty { object["policies"] = .object(accountPolicies.json) }
    return object
  }
}
