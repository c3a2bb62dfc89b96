import SignetJSON
import SignetPolicy
import SignetProtocol
import SignetServer
import SignetStorage
import SignetUAF
import Testing

/// The proof of an authenticator at its best, as operators see it.
@Suite struct AuthenticatorProofTests {
  private static func record(
    _ source: AuthenticatorRecord.Source, _ state: AuthenticatorRecord.State = .active
  ) -> AuthenticatorRecord {
    AuthenticatorRecord(
      id: "id", of: source, name: "", state: state, reason: "", created: 1, lastUsed: 2)
  }

  private static func container(
    _ protection: ProtectionPolicy, keys: String?, simulated: Bool = false
  ) -> AuthenticatorRecord.Source {
    let profile = ContainerProfile(protection: protection, totp: .standard)
    var container = ContainerRecord(
      id: ContainerID(unchecked: "c"), user: UserID(unchecked: "alice"), activation: ID(unchecked: "a"),
      device: [1], name: "", platform: "linux", keystore: "tpm2", sessionKey: [1], encryptionKey: [2],
      signingKey: [3], profile: JSONValue.object(profile.json).bytes, created: 1)
    (container.keyOrigin, container.isSimulated) = (keys, simulated)
    return .container(container, AccountStateRecord())
  }

  private static func key(inHardware isInHardware: Bool) -> AuthenticatorRecord.Source {
    var key = UAFCredentialRecord(
      aaid: UAFAuthenticatorModel.pin.aaid(inHardware: isInHardware).description,
      keyID: Array(repeating: 1, count: 32),
      user: UserID(unchecked: "alice"),
      publicKey: [4], algorithm: 1, keyFormat: 0x100, signCounter: 0, registrationCounter: 1,
      authenticatorVersion: 1, created: 1)
    key.keyProtection = UAFAuthenticatorModel.pin.statement(inHardware: isInHardware).keyProtection.rawValue
    return .key(key)
  }

  /// Factors, other properties, and the protection of the key.
  private static func words(
    _ record: AuthenticatorRecord, _ models: AuthenticatorModels?
  ) -> [String]? {
    AuthenticationEvidence(atBestOf: record, among: models).map { evidence in
      ["\(evidence.factors)"] + (evidence.isUserVerified ? ["user"] : [])
        + (evidence.isPhishingResistant ? ["resistant"] : []) + (evidence.isContentSigned ? ["signed"] : [])
        + [evidence.keyProtection.rawValue]
    }
  }

  @Test("each kind proves what its evidence shows; an altered row proves nothing")
  func atBest() throws {
    let models = AuthenticatorModels(
      try [true, false].map { try AuthenticatorModel(UAFAuthenticatorModel.pin.statement(inHardware: $0)) })
    let app = PushAuthMechanismRecord(
      id: ID(unchecked: "m"), user: UserID(unchecked: "alice"), sealedSecret: [1], challenge: [2], created: 1,
      expires: 9)
    let cases: [(AuthenticatorRecord.Source, [String])] = [
      (Self.container(.devicePasscode, keys: "tpm2"), ["2", "user", "signed", "hardwareClaimed"]),
      (Self.container(.devicePasscode, keys: "software"), ["2", "user", "signed", "software"]),
      (Self.container(.device, keys: "tpm2", simulated: true), ["1", "signed", "software"]),
      (Self.container(.device, keys: nil), ["1", "signed", "software"]),
      (Self.key(inHardware: true), ["2", "user", "resistant", "signed", "hardwareClaimed"]),
      (Self.key(inHardware: false), ["2", "user", "resistant", "signed", "software"]),
      (.app(app), ["1", "software"]),
      (.token, ["1", "software"]),
    ]
    for (source, words) in cases {
      for state in [AuthenticatorRecord.State.pending, .active, .suspended, .revoked] {
        #expect(Self.words(Self.record(source, state), models) == words, "\(source) \(state)")
      }
      #expect(Self.words(Self.record(source, .altered), models) == nil, "\(source)")
      #expect(Self.record(source, .altered).lastUsed == nil && Self.record(source).lastUsed == 2)
    }
    // An unknown model proves nothing about its user and its key.
    #expect(
      Self.words(Self.record(Self.key(inHardware: true)), nil) == ["1", "resistant", "signed", "software"])
  }
}
