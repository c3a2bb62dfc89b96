// The rows of a vault are authenticated, so a changed header never reaches these functions in use. They must be safe without that
// too, and only code inside the module can pass such headers.
import SignetCrypto
import SignetPolicy
import SignetTestKit
import Testing
import SignetVault

@Suite("Slot headers and wrapped keys")
struct SlotTests {
  private static let floor = Argon2id(memoryKiB: 8, passes: 1, lanes: 1)
  private static let domainID = DomainID(
    vault: Identifier(unchecked: Array(0..<16)),
    container: LocalContainerID(Identifier(unchecked: Array(16..<32))), domain: "keys")

  private static func header(_ opening: SlotHeader.Opening) -> SlotHeader {
    SlotHeader(keystore: .software, opening: opening, salt: Array(32..<48), domainID: domainID)
  }

  private static func ofVersion1(_ header: SlotHeader) -> SlotHeader {
    var header = header
    header.version = 1
    return header
  }

  private static let device = header(.device)
  private static let password = header(.password(floor, .lock(limit: 5)))
  private static let limited = {
    var limited = header(.password(floor, .coolDown(waits: [0, 60], atLimit: .wipe)))
    limited.guessLimit = 3
    return limited
  }()
  private static let all = [
    device, password, limited, header(.password(.minimum, .none)), header(.password(floor, .silent)),
    header(.biometric(enrolledSet: Array(64..<96))), header(.devicePasscode), header(.recovery),
    ofVersion1(device), ofVersion1(password), ofVersion1(header(.password(.minimum, .none))),
  ]

  @Test("the bytes of both versions match the documented tables")
  func bytes() throws {
    let place = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f046b657973"
    let salt = "202122232425262728292a2b2c2d2e2f"
    #expect(
      Hex.encode(Self.ofVersion1(Self.password).bytes)
        == "5347534801020101010000000800000001000000010100000005"
        + salt + place)
    #expect(
      Hex.encode(Self.ofVersion1(Self.device).bytes) == "5347534801010101000000000000000000000000000000000000"
        + salt + place)
    let noSet = String(repeating: "00", count: 32)
    #expect(
      Hex.encode(Self.device.bytes) == "53475348020101010000000000000000000000000000" + noSet + salt + place
        + "0000")
    #expect(
      Hex.encode(Self.password.bytes) == "53475348020201010100000008000000010000000100" + noSet + salt + place
        + "0019" + Hex.encode(Array(#"{"type":"lock","limit":5}"#.utf8)))
    #expect(Self.limited.bytes[21] == 3)
    #expect(Hex.encode(Array(Self.all[5].bytes[22..<54])) == Hex.encode(Array(64..<96)))
    #expect(Self.all[4].bytes[7] == 2, "a silent slot is wrapped in another way")
    for header in Self.all { #expect(try SlotHeader(parsing: header.bytes, floor: Self.floor) == header) }
  }

  @Test(
    "each changed byte and length is refused or read exactly",
    arguments: all)
  func total(_ header: SlotHeader) throws {
    let bytes = header.bytes
    for count in bytes.indices {
      #expect(throws: SlotHeader.Refusal.self) {
        try SlotHeader(parsing: Array(bytes.prefix(count)), floor: Self.floor)
      }
    }
    #expect(throws: SlotHeader.Refusal.malformed) { try SlotHeader(parsing: bytes + [0], floor: Self.floor) }
    var accepted = 0
    for index in bytes.indices {
      for value in UInt8.min...UInt8.max where value != bytes[index] {
        var changed = bytes
        changed[index] = value
        do {
          let read = try SlotHeader(parsing: changed, floor: Self.floor)
          // In thousands of rounds, an expectation would take most of the time.
          if read.bytes != changed { Issue.record("byte \(index) as \(value): read as \(read)") }
          accepted += 1
        } catch {}  // a rejection: the throw is typed
      }
    }
    #expect(accepted > 0, "other salts and names are well-formed")
  }

  @Test("versions, costs and limits out of bounds")
  func bounds() {
    var newer = Self.device.bytes
    newer[4] = 3
    #expect(throws: SlotHeader.Refusal.unknownVersion(3)) {
      try SlotHeader(parsing: newer, floor: Self.floor)
    }
    let minimum = Argon2id.minimum
    for cost in [
      Argon2id(memoryKiB: minimum.memoryKiB - 1, passes: 2, lanes: 1),
      Argon2id(memoryKiB: minimum.memoryKiB, passes: 1, lanes: 1),
      Argon2id(memoryKiB: minimum.memoryKiB, passes: 2, lanes: 0),
      Argon2id(memoryKiB: (1 << 20) + 1, passes: 2, lanes: 1),
      Argon2id(memoryKiB: minimum.memoryKiB, passes: 65, lanes: 1),
      Argon2id(memoryKiB: minimum.memoryKiB, passes: 2, lanes: 17),
    ] {
      #expect(throws: SlotHeader.Refusal.cost(cost)) {
        try SlotHeader(parsing: Self.header(.password(cost, .none)).bytes, floor: minimum)
      }
    }
    for header in [Self.header, { Self.ofVersion1(Self.header($0)) }] {
      for limit in [0, 101, Int(UInt32.max)] {
        #expect(throws: SlotHeader.Refusal.malformed) {
          try SlotHeader(parsing: header(.password(minimum, .lock(limit: limit))).bytes, floor: minimum)
        }
      }
    }
  }

  @Test("the wrapped key opens under its own header, secret and password only")
  func wrapping() throws {
    let folder = try TemporaryFolder()
    let keystore = SoftwareKeystore(directory: folder.path)
    let masterKey = SecretBytes.random(byteCount: 32)
    let box = SharedSecretBox("password")
    let derived = SharedSecretBox(try box.withSecret { try Self.password.derive($0, .argon2id) })
    let made = SecretBytes.random(byteCount: 32)
    let slot = try ProtectionSlot.wrapping(
      masterKey, header: Self.password, derived: derived, hardwareSecret: made,
      sealed: try keystore.seal(made, context: Self.domainID.hardwareContext(.password)))
    let secret = try keystore.unseal(slot.sealedSecret, context: Self.domainID.hardwareContext(.password))
    let unwrapped = try slot.unwrap(hardwareSecret: secret, derived: derived)
    #expect(SharedSecretBox(unwrapped ?? SecretBytes("")).withSecret { $0.isEqual(to: masterKey) })

    func opens(_ slot: ProtectionSlot, _ secret: borrowing SecretBytes, _ derived: SharedSecretBox?) throws
      -> Bool
    {
      try slot.unwrap(hardwareSecret: secret, derived: derived) != nil
    }
    let other = SharedSecretBox(try slot.header.derive(SecretBytes("Password"), .argon2id))
    #expect(try !opens(slot, secret, other))
    #expect(try !opens(slot, SecretBytes.random(byteCount: 32), derived))
    #expect(try !opens(slot, secret, nil))
    let changes: [(inout SlotHeader) -> Void] = [
      { $0.opening = .password(Self.floor, .none) },
      { $0.opening = .password(Self.floor, .lock(limit: 6)) },
      { $0.opening = .password(Argon2id(memoryKiB: 16, passes: 1, lanes: 1), .lock(limit: 5)) },
      { $0.salt[0] ^= 1 }, { $0.domainID.domain = "keyz" },
      { $0.domainID.vault = Identifier(unchecked: [UInt8](repeating: 0, count: 16)) },
    ]
    for change in changes {
      var changed = slot
      change(&changed.header)
      #expect(try !opens(changed, secret, derived), "\(changed.header)")
    }
    #expect(throws: KeystoreFailure.refused) {
      _ = try keystore.unseal(slot.sealedSecret, context: Self.domainID.hardwareContext(.device))
    }
    // A recovery code does not replace the keystore.
    let code = SharedSecretBox(SecretBytes.random(byteCount: 16))
    let recovery = try ProtectionSlot.wrapping(
      masterKey, header: Self.header(.recovery), derived: code, hardwareSecret: made,
      sealed: try keystore.seal(made, context: Self.domainID.hardwareContext(.recovery)))
    #expect(try opens(recovery, secret, code))
    #expect(try !opens(recovery, SecretBytes.random(byteCount: 32), code))
    #expect(try !opens(recovery, secret, SharedSecretBox(SecretBytes.random(byteCount: 16))))
  }

  @Test("different fields never give the same bytes")
  func canonicalBytes() {
    var one = CanonicalBytes("p")
    one.append("ab")
    one.append("c")
    var two = CanonicalBytes("p")
    two.append("a")
    two.append("bc")
    #expect(one.bytes != two.bytes)
    #expect(Hex.encode(one.bytes) == "0000000170000000026162" + "0000000163")
    var number = CanonicalBytes("")
    number.append(Int64(-2))
    #expect(Hex.encode(number.bytes) == "00000000" + "00000008fffffffffffffffe")
  }
}
