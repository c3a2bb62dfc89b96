public import SignetJSON
import SignetOATH
public import SignetPolicy

/// What a container will hold and what opens it (`docs/protocol.md` section 3.4).
public struct ContainerProfile: Hashable, Sendable {
  /// What opens the signing key and the one-time password secret.
  public var protection: ProtectionPolicy
  /// The label of the one-time password key: 1 to 64 characters.
  public var otpLabel: String
  /// How codes are computed.
  public var totp: TOTPParameters

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
  }

  /// The profile as the protocol writes it.
  public var json: JSONObject {
    let otp: JSONObject = [
      "label": .string(otpLabel), "type": "totp", "algorithm": .string(totp.algorithm.rawValue),
      "digits": .integer(Int64(totp.digits)), "period": .integer(Int64(totp.period)),
    ]
    var object = JSONObject()
    object["protection"] = .object(protection.json)
    object["otp"] = .object(otp)
    return object
  }
}
