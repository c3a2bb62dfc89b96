public import SignetJSON
import SignetOATH
public import SignetPolicy

/// The keys of a container and their protection (`docs/protocol.md` section 3.4).
public struct ContainerProfile: Hashable, Sendable {
  /// The keys of a container that can have their own protection.
  public enum KeyName: String, Hashable, Sendable, CaseIterable {
    /// The key that signs decisions about transactions.
    case signing
    /// The secret of the one-time codes.
    case otp
    /// The key that signs the device's requests.
    case session
  }

  /// The protection of the container and of every key without its own protection.
  public var protection: ProtectionPolicy
  /// The protection of each key that has its own, with a password other than the container's.
  public var keys: [KeyName: ProtectionPolicy] = [:]
  /// The label of the one-time password secret, 1 to 64 Unicode scalars.
  public var otpLabel: String
  /// The parameters of the codes.
  public var totp: TOTPParameters
  /// Indicates whether the user may export the one-time password secret to another authenticator.
  public var isOTPExportable = false

  /// The requirements for the device; the device locks the container if it does not meet them.
  public var accountPolicies = AccountPolicySet()

  /// Creates a profile.
  public init(protection: ProtectionPolicy, otpLabel: String = "otp", totp: TOTPParameters) {
    self.protection = protection
    self.otpLabel = otpLabel
    self.totp = totp
  }

  /// Parses a profile.
  ///
  /// - Throws: ``WireFailure`` for a malformed member or an unknown value.
  public init(_ object: JSONObject) throws(WireFailure) {
    do {
      protection = try ProtectionPolicy(object.wireObject("protection"))
    } catch let failure as WireFailure {
      throw failure
    } catch {
      throw .invalid(member: "protection", reason: "is not a policy of this version: \(error)")
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
      throw .invalid(
        member: "label", reason: "must have 1 to 64 characters, none of them a control character")
    }
    totp = try TOTPParameters(otp)
    isOTPExportable = try Wire.reading(otp.optionalBool("exportable")) ?? false
    guard object.contains("policies") else { return }
    let policies = try object.wireObject("policies")
    do { accountPolicies = try AccountPolicySet(policies) } catch {
      throw .invalid(member: "policies", reason: "are not account policies: \(error)")
    }
  }

  /// Returns a key's own protection or else the container's; a session key without its own has the device's.
  public func protection(of key: KeyName) -> ProtectionPolicy {
    keys[key] ?? (key == .session ? .device : protection)
  }

  /// Returns the reason why a key cannot have this protection; `nil` if it can.
  ///
  /// - Parameters:
  ///   - protection: The protection to check.
  ///   - key: The key that it would protect.
  /// - Returns: A predicate whose subject is the caller's input.
  public static func objection(to protection: ProtectionPolicy, of key: KeyName) -> String? {
    switch protection {
    case .biometric, .devicePasscode:
      "must be opened by the device alone, or with a password; use another type"
    // An attacker can send requests with wrong signatures: if the server counted those, the attacker could lock out any
    // user.
    case _ where key == .session && protection.lockPolicy == .silent:
      "must not have a silent lock: the server does not count its wrong passwords; use another lock"
    default: nil
    }
  }

  private static func keys(_ object: JSONObject) throws(WireFailure) -> [KeyName: ProtectionPolicy] {
    guard object.contains("keys") else { return [:] }
    var keys: [KeyName: ProtectionPolicy] = [:]
    for (name, value) in try object.wireObject("keys").members {
      // Rejected, not skipped: skipping an unknown key would leave it without its protection.
      guard let key = name.utf8.count <= 16 ? KeyName(rawValue: name) : nil, case .object(let policy) = value
      else {
        throw .invalid(member: "keys", reason: "has a member that this version does not know")
      }
      do { keys[key] = try ProtectionPolicy(policy) } catch {
        throw .invalid(member: name, reason: "is not a policy of this version: \(error)")
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

  /// The profile in its JSON form.
  public var json: JSONObject {
    var otp: JSONObject = [
      "label": .string(otpLabel), "type": "totp", "algorithm": .string(totp.algorithm.rawValue),
      "digits": .integer(Int64(totp.digits)), "period": .integer(Int64(totp.period)),
    ]
    if isOTPExportable { otp["exportable"] = true }
    var object = JSONObject()
    object["protection"] = .object(protection.json)
    if !keys.isEmpty {
      var keyPolicies = JSONObject()
      for key in KeyName.allCases {
        if let protection = keys[key] { keyPolicies[key.rawValue] = .object(protection.json) }
      }
      object["keys"] = .object(keyPolicies)
    }
    object["otp"] = .object(otp)
    if !accountPolicies.isEmpty { object["policies"] = .object(accountPolicies.json) }
    return object
  }
}
