import SignetJSON
import SignetPolicy
import SignetProtocol
import SignetServer

extension ContainerProfile {
  /// Reads the profile in the operator's settings.
  ///
  /// An unknown member is rejected here, because a device would ignore it. Messages contain the path of the member.
  ///
  /// - Throws: `ServerConfigurationFile.Refusal`, or the failure of the wrong member.
  @Sendable static func read(_ object: JSONObject, at path: String) throws -> ContainerProfile {
    let profile = SettingsObject(object: object, path: path)
    try profile.refuseMembers(except: memberNames)
    if case .object(let otp)? = object["otp"] {
      try otp.refuseMembers(except: otpMemberNames, at: "\(path).otp")
    }
    _ = try ProtectionPolicy.read(profile.member("protection"))
    if object.contains("keys") { try checkKeys(profile.member("keys")) }
    if object.contains("policies") { try checkPolicies(profile.member("policies")) }
    let otp = try profile.member("otp")
    _ = try otp.read("type", Shape<String>.oneOf("totp"))
    do throws(WireFailure) { return try ContainerProfile(object) } catch {
      // Only members of `otp` can still be invalid.
      switch error {
      case .invalid(let member, let reason) where otpMemberNames.contains(member):
        throw otp.refusal(of: member, reason)
      case .json(let failure): throw otp.refusal(failure)
      default: throw error
      }
    }
  }

  private static func checkKeys(_ keys: SettingsObject) throws {
    try keys.refuseMembers(except: KeyName.allCases.map(\.rawValue))
    for key in KeyName.allCases where keys.object.contains(key.rawValue) {
      let policy = try ProtectionPolicy.read(keys.member(key.rawValue))
      if let objection = Self.objection(to: policy, of: key) {
        throw ServerConfigurationFile.Refusal.reason("\"\(keys.path).\(key.rawValue)\" \(objection)")
      }
    }
  }

  private static func checkPolicies(_ policies: SettingsObject) throws {
    do throws(AccountPolicyFailure) {
      try AccountPolicyRegistry().check(AccountPolicySet(policies.object))
    } catch {
      guard case .invalidParameter(let policy, let parameter, let reason) = error else {
        throw ServerConfigurationFile.Refusal.reason("\"\(policies.path)\": \(error)")
      }
      let names = [policies.path, policy, parameter].filter { !$0.isEmpty }
      throw ServerConfigurationFile.Refusal.reason("\"\(names.joined(separator: "."))\" \(reason)")
    }
  }
}
