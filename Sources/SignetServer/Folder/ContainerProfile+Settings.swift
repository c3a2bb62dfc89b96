import SignetJSON
import SignetPolicy
import SignetWire

extension ContainerProfile {
  /// Reads the profile in the operator's settings.
  ///
  /// An unknown member is refused here, because a device ignores it.
  ///
  /// - Throws: `FolderSettings.Refusal`, or the failure of what is wrong.
  @Sendable static func read(_ object: JSONObject, at place: String) throws -> ContainerProfile {
    try object.refuseMembers(except: memberNames, at: place)
    if case .object(let otp)? = object["otp"] {
      try otp.refuseMembers(except: otpMemberNames, at: "\(place).otp")
    }
    let profile = try ContainerProfile(object)
    try AccountPolicyRegistry().check(profile.accountPolicies)
    return profile
  }
}
