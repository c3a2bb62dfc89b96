import SignetJSON
import SignetPolicy
import SignetProtocol
import Testing

/// The separate protections of a container's keys (`docs/protocol.md` section 3.4).
@Suite struct KeyProtectionTests {
  private let otp: JSONObject = [
    "label": "otp", "type": "totp", "algorithm": "SHA256", "digits": 6, "period": 30,
  ]
  private let lock: JSONObject = ["type": "lock", "limit": 5]
  private let password: JSONObject = ["minLength": 4, "maxLength": 8]

  private func profile(_ keys: JSONValue?) throws -> ContainerProfile {
    var object: JSONObject = ["protection": ["type": "device"]]
    if let keys { object["keys"] = keys }
    object["otp"] = .object(otp)
    return try ContainerProfile(object)
  }

  private func policy(_ type: String = "password", lock: JSONObject? = nil) -> JSONValue {
    .object([
      "type": .string(type), "password": .object(password), "lock": .object(lock ?? self.lock),
    ])
  }

  @Test func readsWhatItWrites() throws {
    let keys: JSONObject = [
      "signing": policy("biometricOrPassword"), "otp": policy(lock: ["type": "silent"]),
      "session": ["type": "device"],
    ]
    let profile = try profile(.object(keys))
    #expect(profile.keys.count == 3 && profile.keys[.session] == .device)
    #expect(profile.keys[.otp]?.lockPolicy == .silent)
    #expect(try ContainerProfile(profile.json) == profile)
    #expect(try profile.json.object("keys").members.map(\.name) == ["signing", "otp", "session"])
    #expect(profile.json.members.map(\.name) == ["protection", "keys", "otp"])
  }

  @Test func saysWhetherTheSecretMayLeave() throws {
    var object: JSONObject = ["protection": ["type": "device"]]
    for (member, isExportable) in [(nil, false), (.bool(false), false), (.bool(true), true)]
      as [(JSONValue?, Bool)]
    {
      var otp = otp
      otp["exportable"] = member
      object["otp"] = .object(otp)
      let profile = try ContainerProfile(object)
      #expect(profile.isOTPExportable == isExportable)
      #expect(try profile.json.object("otp").contains("exportable") == isExportable)
      #expect(try ContainerProfile(profile.json) == profile)
    }
    for member in [.integer(1), .string("true"), .null] as [JSONValue] {
      var otp = otp
      otp["exportable"] = member
      object["otp"] = .object(otp)
      #expect(throws: WireFailure.self) { try ContainerProfile(object) }
    }
  }

  @Test func leavesOutWhatIsNotThere() throws {
    for keys in [nil, .object([:])] as [JSONValue?] {
      let profile = try profile(keys)
      #expect(profile.keys.isEmpty && !profile.json.contains("keys"))
    }
  }

  @Test func tellsWhatOpensAKey() throws {
    var profile = try profile(nil)
    #expect(ContainerProfile.KeyName.allCases.allSatisfy { profile.protection(of: $0) == .device })
    let policy = try PasswordPolicy(minimumLength: 4, maximumLength: 8)
    profile.protection = .password(policy, .none)
    #expect(profile.protection(of: .signing) == profile.protection)
    #expect(profile.protection(of: .otp) == profile.protection)
    #expect(profile.protection(of: .session) == .device)
    profile.keys[.session] = .password(policy, .lock(limit: 3))
    #expect(profile.protection(of: .session) == .password(policy, .lock(limit: 3)))
  }

  @Test func refuses() throws {
    let silent = policy(lock: ["type": "silent"])
    for (member, keys) in [
      ("keys", JSONValue.object(["encryption": ["type": "device"]])),
      ("keys", ["Signing": ["type": "device"]]),
      ("keys", .object(["signing": policy(), "": policy()])), ("keys", ["otp": .null]),
      ("keys", ["otp": "device"]), ("keys", .object([String(repeating: "x", count: 10_000): policy()])),
      ("otp", ["otp": ["type": "escrow"]]), ("otp", ["otp": ["type": "device", "later": true]]),
      ("otp", ["otp": ["type": "password"]]), ("signing", ["signing": ["type": "biometric"]]),
      ("signing", ["signing": ["type": "devicePasscode"]]), ("session", .object(["session": silent])),
    ] {
      let failure = #expect(throws: WireFailure.self) { try profile(keys) }
      guard case .invalid(member, _)? = failure else {
        Issue.record("\(keys): \(String(describing: failure))")
        continue
      }
    }
    for keys in [JSONValue.null, .array([]), .bool(true), "signing"] {
      #expect(throws: WireFailure.self) { try profile(keys) }
    }
  }

  @Test(arguments: ["offer", "renewal offer"]) func bothOffersCarryThem(_ name: String) throws {
    let sample = try MessageSample.named(name)
    let keys: JSONObject = ["otp": policy()]
    let bytes = try sample.setting("profile", "keys", to: .object(keys))
    #expect(throws: Never.self) { try sample.reprint(bytes) }
    let found =
      try name == "offer" ? ActivationOffer(parsing: bytes).profile : RenewalOffer(parsing: bytes).profile
    #expect(found.keys.keys.map(\.self) == [.otp])
    let unknown: JSONObject = ["later": policy()]
    #expect(throws: WireFailure.self) {
      try sample.reprint(sample.setting("profile", "keys", to: .object(unknown)))
    }
  }
}
