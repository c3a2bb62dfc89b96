import SignetCrypto
import SignetJSON
import SignetProtocol
import Testing

/// Values outside the protocol, each by itself.
@Suite struct MessageRefusalTests {
  private func refuses(_ name: String, _ path: [String], _ value: JSONValue) throws {
    let sample = try MessageSample.named(name)
    let bytes: [UInt8] =
      switch path.count {
      case 1: try sample.setting(path[0], to: value)
      case 2: try sample.setting(path[0], path[1], to: value)
      default: try sample.setting(path[0], path[1], path[2], to: value)
      }
    #expect(throws: WireFailure.self, "\(name) \(path) \(value.text)") { try sample.reprint(bytes) }
  }

  private static func base64(_ count: Int) -> JSONValue {
    .string(Base64URL.encode([UInt8](repeating: 1, count: count)))
  }

  @Test func refusesBytesOfAnotherLength() throws {
    for (name, path, count) in [
      ("start", ["nonce"], 32), ("offer", ["nonce"], 32), ("offer", ["salt"], 16),
      ("receipt", ["transcript"], 32),
      ("request", ["body"], 32), ("request", ["id"], 16), ("decision", ["device"], 16),
      ("core", ["device", "id"], 16), ("offer", ["key", "x"], 32), ("core", ["keys", "session", "y"], 32),
    ] {
      for wrong in [0, count - 1, count + 1] { try refuses(name, path, Self.base64(wrong)) }
      // Padding, the other alphabet and unused bits are not base64url.
      try refuses(name, path, .string(String(repeating: "A", count: (count * 4 + 2) / 3) + "="))
      try refuses(name, path, .string("+" + String(repeating: "A", count: (count * 4 + 2) / 3 - 1)))
    }
  }

  @Test func refusesWeakAndExpensiveKeyDerivation() throws {
    for (member, values) in [
      ("memory", [0, -1, 19_455, 1_048_577, Int64.max, .min]), ("passes", [0, 1, 17, .max]),
      ("lanes", [0, 17, -1, .max]),
    ] {
      for value in values { try refuses("offer", ["kdf", member], .integer(value)) }
      try refuses("offer", ["kdf", member], .number(2.5))
    }
    for name in ["argon2i", "argon2d", "pbkdf2", "Argon2id", ""] {
      try refuses("offer", ["kdf", "name"], .string(name))
    }
    let sample = try MessageSample.named("offer")
    for (memory, passes, lanes) in [(Int64(19_456), Int64(2), Int64(1)), (1_048_576, 16, 16)] {
      let kdf: JSONObject = [
        "name": "argon2id", "memory": .integer(memory), "passes": .integer(passes), "lanes": .integer(lanes),
      ]
      let offer = try ActivationOffer(parsing: sample.setting("kdf", to: .object(kdf)))
      #expect(offer.costs == Argon2id(memoryKiB: Int(memory), passes: Int(passes), lanes: Int(lanes)))
    }
  }

  @Test func refusesKeysThatAreNoPointsOrNotOnP256() throws {
    let sample = try MessageSample.named("core")
    let key = try JSONObject(parsing: sample.bytes).object("agreement")
    for path in [["agreement"], ["keys", "session"], ["keys", "encryption"], ["keys", "signing"]] {
      try refuses("core", path + ["kty"], "OKP")
      try refuses("core", path + ["crv"], "P-384")
      // Swapped coordinates, zeros, and the field's prime: none is a point.
      var swapped = key
      (swapped["x"], swapped["y"]) = (key["y"], key["x"])
      try refuses("core", path, .object(swapped))
      try refuses("core", path + ["y"], Self.base64(32))
      try refuses("core", path + ["x"], .string(Base64URL.encode([UInt8](repeating: 0, count: 32))))
      try refuses("core", path + ["x"], .string(Base64URL.encode([UInt8](repeating: 255, count: 32))))
    }
    try refuses("offer", ["key", "y"], Self.base64(32))
  }

  @Test func refusesOneKeyForTwoUses() throws {
    let keys = try JSONObject(parsing: MessageSample.named("core").bytes).object("keys")
    let names = ["session", "encryption", "signing"]
    for (index, name) in names.enumerated() {
      try refuses("core", ["keys", name], .object(keys.object(names[(index + 1) % 3])))
    }
  }

  @Test func refusesOtherWritingsOfTheServerID() throws {
    for (name, good) in [
      ("offer", "https://127.0.0.1:8443/staff_1"), ("core", "https://127.0.0.1:8443/staff_1"),
      ("receipt", "https://127.0.0.1:8443/staff_1"), ("decision", "https://127.0.0.1:8443/staff_1"),
    ] {
      let sample = try MessageSample.named(name)
      #expect(try sample.reprint(sample.setting("server", to: .string(good))) == sample.bytes)
      for bad in [
        "127.0.0.1:8443/staff_1", "HTTPS://127.0.0.1:8443/staff_1", "https://127.0.0.1:8443/staff_1/",
        "http://127.0.0.1:8443/staff_1", "https://LOCALHOST/main", "https://localhost:443/main", "",
      ] {
        try refuses(name, ["server"], .string(bad))
      }
    }
  }

  @Test func refusesProfilesThatItDoesNotKnow() throws {
    for (path, value) in [
      (["profile", "protection", "type"], JSONValue.string("biometric")),
      (["profile", "protection", "escrow"], .bool(true)), (["profile", "otp", "type"], "hotp"),
      (["profile", "otp", "algorithm"], "MD5"), (["profile", "otp", "digits"], 5),
      (["profile", "otp", "digits"], 11), (["profile", "otp", "digits"], .integer(.max)),
      (["profile", "otp", "period"], 0), (["profile", "otp", "period"], 3601),
      (["profile", "otp", "label"], ""), (["profile", "otp", "label"], "a\nb"),
      (["profile", "otp", "label"], .string(String(repeating: "x", count: 65))),
    ] {
      try refuses("offer", path, value)
    }
  }

  @Test(arguments: [
    "\u{0}", "a\u{1B}[2Jb", "a\nb", "a\u{202E}b", "a\u{2066}b", "a\u{200B}b", " a", "a ", "a\u{A0}", "", ".",
    "..",
  ])
  func refusesUserIDs(_ text: String) throws {
    for name in ["start", "core", "receipt", "decision"] { try refuses(name, ["user"], .string(text)) }
    #expect(throws: WireFailure.self) { try UserID(text) }
  }

  @Test func limitsTheLengthOfIDs() throws {
    #expect(try UserID(String(repeating: "ö", count: 128)).text.count == 128)
    try refuses("start", ["user"], .string(String(repeating: "a", count: 129)))
    #expect(try ContainerID(String(repeating: "a", count: 64)).text.count == 64)
    for bad in [String(repeating: "a", count: 65), "", "a/b", "a.b", "ä", "a b", "a\u{0}"] {
      try refuses("receipt", ["container"], .string(bad))
      try refuses("decision", ["transaction"], .string(bad))
    }
  }

  @Test func refusesDeviceDescriptions() throws {
    for (member, value) in [
      ("name", String(repeating: "a", count: 129)), ("name", "a\u{7}"), ("name", "a\u{202E}"),
      ("platform", ""),
      ("platform", "li nux"), ("platform", String(repeating: "a", count: 33)), ("keystore", "paper"),
    ] {
      try refuses("core", ["device", member], .string(value))
    }
    let sample = try MessageSample.named("core")
    let core = try ActivationCore(parsing: sample.setting("device", "name", to: ""))
    #expect(core.device.name.isEmpty)
  }

  @Test func limitsTheHandshake() throws {
    let sample = try MessageSample.named("start answer")
    #expect(throws: Never.self) {
      try sample.reprint(sample.setting("handshake", to: .string(String(repeating: "a", count: 2048))))
    }
    try refuses("start answer", ["handshake"], .string(String(repeating: "a", count: 2049)))
    try refuses("start answer", ["handshake"], "")
    try refuses("start answer", ["offer"], "e30=")
  }

  @Test func sayWhatIsWrongAndNoValue() throws {
    let failures: [WireFailure] = [
      .json(.missingMember("nonce")), .unsupportedVersion(2), .invalid(member: "user", reason: "has a space"),
      .notAuthentic,
    ]
    #expect(Set(failures.map(\.description)).count == failures.count)
    #expect(WireFailure.unsupportedVersion(2).description.contains("update Signet"))
    #expect(WireFailure.json(.missingMember("nonce")).description.contains("nonce"))
  }
}
