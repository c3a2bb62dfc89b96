import SignetCrypto
import SignetTestKit
import Testing

import SignetVault

@Suite(.timeLimit(.minutes(10))) struct AppDataTests {
  private static let chunk = AppDataFormat.chunkByteCount
  private static let sealedChunk = chunk + AppDataFormat.tagByteCount
  private static let header = AppDataFormat.headerByteCount

  private static func group(_ name: String = "office", root: UInt8 = 1) -> AppDataGroupKey {
    AppDataGroupKey(
      root: SecretBytes(copying: [UInt8](repeating: root, count: 32)), group: AppGroup(name) ?? .standard)
  }

  private static func text(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
  }

  private static func seal(_ text: [UInt8], pieces: Int = .max, label: String = "notes") throws -> [UInt8] {
    var sealer = AppDataSealer(try group().newKey(label: label, random: SeededRandomSource(seed: 1)))
    var output: [UInt8] = []
    var rest = text[...]
    while !rest.isEmpty {
      output += try sealer.update(Array(rest.prefix(pieces)))
      rest = rest.dropFirst(pieces)
    }
    return try output + sealer.finish()
  }

  private static func open(
    _ sealed: [UInt8], pieces: Int = .max, label: String = "notes", _ group: borrowing AppDataGroupKey
  ) throws -> [UInt8] {
    var opener = AppDataOpener(
      try group.textKey(label: label, salt: AppDataFormat.salt(inHeader: sealed)))
    var output: [UInt8] = []
    var rest = sealed.dropFirst(header)
    while !rest.isEmpty {
      output += try opener.update(Array(rest.prefix(pieces)))
      rest = rest.dropFirst(pieces)
    }
    return try output + opener.finish()
  }

  private static func open(_ sealed: [UInt8], pieces: Int = .max, label: String = "notes") throws -> [UInt8] {
    try open(sealed, pieces: pieces, label: label, group())
  }

  @Test(
    "encrypted data are decrypted with any piece sizes",
    arguments: [0, 1, 100, chunk - 1, chunk, chunk + 1, 2 * chunk, 3 * chunk + 7])
  func roundTrip(count: Int) throws {
    let text = Self.text(count)
    let sealed = try Self.seal(text)
    let chunks = max(1, (count + Self.chunk - 1) / Self.chunk)
    #expect(sealed.count == Self.header + count + chunks * AppDataFormat.tagByteCount)
    for pieces in [977, Self.chunk, Self.sealedChunk, 100_000] {
      #expect(try Self.seal(text, pieces: pieces) == sealed)
      #expect(try Self.open(sealed, pieces: pieces) == text)
    }
  }

  @Test("the format is the documented one")
  func vector() throws {
    // Derived again here from docs/app-data-format.md, without the code under test.
    func field(_ bytes: [UInt8]) -> [UInt8] { [0, 0, 0, UInt8(bytes.count)] + bytes }
    func field(_ text: String) -> [UInt8] { field(Array(text.utf8)) }
    let groupKey = HKDF.derive(
      inputKey: SecretBytes(copying: [UInt8](repeating: 1, count: 32)), salt: [],
      info: field("signet app data group v1") + field("office"), byteCount: 32, .sha256)
    let salt = SeededRandomSource(seed: 1).bytes(32)
    let key = HKDF.derive(
      inputKey: groupKey, salt: salt, info: field("signet app data v1") + field("notes"), byteCount: 32,
      .sha256)
    let text = Self.text(Self.chunk + 3)
    let first = try AESGCM.seal(
      Array(text[..<Self.chunk]), key: key, nonce: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    let last = try AESGCM.seal(
      Array(text[Self.chunk...]), key: key, nonce: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1])
    let expected =
      [0x53, 0x47, 0x41, 0x44, 1] + salt + first.ciphertext + first.tag + last.ciphertext + last.tag
    #expect(try Self.seal(text) == expected)
  }

  @Test("data encrypted by another implementation are decrypted")
  func foreign() throws {
    // Fuzz/make-seeds: written in Python with the package cryptography, from docs/app-data-format.md.
    let sealed = try Hex.decode(
      "53474144010102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20"
        + "d3174a1ca24154621493731323ea0e0c7645c249")
    let group = AppDataGroupKey(root: SecretBytes(copying: Array(1...32)), group: .standard)
    #expect(try Self.open(sealed, label: "fuzz", group) == Array("text".utf8))
  }

  @Test("every truncation is detected")
  func everyCut() throws {
    let short = try Self.seal(Self.text(40))
    for count in 0..<short.count {
      let cut = Array(short.prefix(count))
      #expect(throws: count < Self.header ? AppDataFailure.notAppData : .damaged) { try Self.open(cut) }
    }
    // Around the ends of chunks, where a cut leaves whole chunks.
    let long = try Self.seal(Self.text(3 * Self.chunk + 5))
    for end in 0...3 {
      for distance in -17...17 {
        let count = Self.header + end * Self.sealedChunk + distance
        guard count >= Self.header, count < long.count else { continue }
        #expect(throws: AppDataFailure.damaged) { try Self.open(Array(long.prefix(count))) }
      }
    }
  }

  @Test("every flipped bit is detected")
  func everyFlip() throws {
    let sealed = try Self.seal(Self.text(20))
    for index in sealed.indices {
      for bit in 0..<8 {
        var changed = sealed
        changed[index] ^= 1 << bit
        let expected: AppDataFailure =
          switch index {
          case 0..<4: .notAppData
          case 4: changed[4] == 0 ? .notAppData : .tooNew(version: changed[4])
          default: .damaged
          }
        #expect(throws: expected) { try Self.open(changed) }
      }
    }
    let long = try Self.seal(Self.text(2 * Self.chunk + 5))
    for index in stride(from: Self.header, to: long.count, by: 9_001) {
      var changed = long
      changed[index] ^= 0x10
      #expect(throws: AppDataFailure.damaged) { try Self.open(changed) }
    }
  }

  @Test("swapped, repeated, missing and added chunks are detected")
  func reordered() throws {
    let sealed = try Self.seal(Self.text(3 * Self.chunk + 5))
    let head = Array(sealed.prefix(Self.header))
    let chunks = (0..<4).map { index in
      Array(sealed.dropFirst(Self.header + index * Self.sealedChunk).prefix(Self.sealedChunk))
    }
    func joined(_ order: [Int]) -> [UInt8] { order.reduce(head) { $0 + chunks[$1] } }
    #expect(try Self.open(joined([0, 1, 2, 3])).count == 3 * Self.chunk + 5)
    let orders = [
      [1, 0, 2, 3], [0, 2, 1, 3], [0, 1, 1, 2, 3], [0, 1, 2, 3, 3], [0, 2, 3], [1, 2, 3], [0, 3], [3],
      [0, 1, 2],
      [], [0, 1, 3, 2],
    ]
    for order in orders { #expect(throws: AppDataFailure.damaged) { try Self.open(joined(order)) } }
  }

  @Test("a chunk of other data with the same label and group is detected")
  func spliced() throws {
    let first = try Self.seal(Self.text(2 * Self.chunk))
    var other = AppDataSealer(try Self.group().newKey(label: "notes"))
    let second = try other.update(Self.text(2 * Self.chunk)) + other.finish()
    let mixed = Array(first.prefix(Self.header + Self.sealedChunk)) + second.suffix(Self.sealedChunk)
    #expect(throws: AppDataFailure.damaged) { try Self.open(mixed) }
  }

  @Test("trailing data are detected, also an empty last chunk after a full one")
  func trailing() throws {
    let sealed = try Self.seal(Self.text(10))
    for extra in [1, 15, 16, 17, Self.sealedChunk] {
      #expect(throws: AppDataFailure.damaged) {
        try Self.open(sealed + [UInt8](repeating: 0, count: extra))
      }
    }
    // Only an owner of the key can make this second form of a text of one full chunk.
    let key = try Self.group().textKey(label: "notes", salt: AppDataFormat.salt(inHeader: sealed))
    let made = try key.withKey { (key) throws(AppDataFailure) -> [UInt8] in
      do {
        let full = try AESGCM.seal(
          Self.text(Self.chunk), key: key, nonce: AppDataFormat.nonce(0, isLast: false))
        let empty = try AESGCM.seal([UInt8](), key: key, nonce: AppDataFormat.nonce(1, isLast: true))
        return full.ciphertext + full.tag + empty.tag
      } catch { throw .damaged }
    }
    #expect(throws: AppDataFailure.damaged) { try Self.open(Array(sealed.prefix(Self.header)) + made) }
  }

  @Test("another label, group or container cannot decrypt")
  func binding() throws {
    let sealed = try Self.seal(Self.text(10))
    #expect(throws: AppDataFailure.damaged) { try Self.open(sealed, label: "note") }
    #expect(throws: AppDataFailure.damaged) { try Self.open(sealed, Self.group("home")) }
    #expect(throws: AppDataFailure.damaged) { try Self.open(sealed, Self.group(root: 2)) }
  }

  @Test("labels are 1 to 256 bytes, compared byte by byte")
  func labels() throws {
    for label in ["", String(repeating: "a", count: 257), String(repeating: "é", count: 129)] {
      #expect(throws: AppDataFailure.invalidLabel) { try Self.seal([1], label: label) }
    }
    let sealed = try Self.seal([1], label: "é")
    #expect(throws: AppDataFailure.damaged) { try Self.open(sealed, label: "e\u{301}") }
    #expect(
      try Self.open(
        Self.seal([1], label: String(repeating: "a", count: 256)),
        label: String(repeating: "a", count: 256)) == [1])
  }

  @Test("a decryption that found damage keeps failing; one with a revoked key reports that")
  func afterwards() throws {
    let sealed = try Self.seal(Self.text(3 * Self.chunk))
    let key = try Self.group().textKey(label: "notes", salt: AppDataFormat.salt(inHeader: sealed))
    var body = Array(sealed.dropFirst(Self.header))
    body[3] ^= 1
    var opener = AppDataOpener(key)
    #expect(throws: AppDataFailure.damaged) { try opener.update(body) }
    body[3] ^= 1
    #expect(throws: AppDataFailure.damaged) { try opener.update(body) }
    var revoked = AppDataOpener(key)
    let begin = try revoked.update(Array(body.prefix(Self.sealedChunk + 1)))
    #expect(begin.count == Self.chunk)
    var sealer = AppDataSealer(key)
    key.revoke(because: .screenLocked)
    #expect(throws: AppDataFailure.locked(.screenLocked)) {
      try revoked.update(Array(body.dropFirst(Self.sealedChunk + 1)))
    }
    #expect(throws: AppDataFailure.locked(.screenLocked)) { try sealer.update(Self.text(Self.chunk + 1)) }
  }

  @Test("all chunks have nonces of their own")
  func nonces() {
    let numbers: [UInt32] = [0, 1, 255, 256, 65_536, .max]
    let nonces = numbers.flatMap {
      [AppDataFormat.nonce($0, isLast: false), AppDataFormat.nonce($0, isLast: true)]
    }
    #expect(Set(nonces).count == 2 * numbers.count)
    #expect(nonces.allSatisfy { $0.count == AESGCM.nonceByteCount })
    #expect(AppDataFormat.nonce(0x0102_0304, isLast: true) == [0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 1])
  }

  @Test("the root key is created once, also by 20 concurrent tasks, and persists")
  func root() async throws {
    let fixture = try VaultFixture()
    let vault = try fixture.open()
    let id = try await vault.addContainer(.sample())
    let made = try await withThrowingTaskGroup(of: [UInt8].self) { group in
      for _ in 0..<20 {
        group.addTask {
          let unlocked = try await vault.open("session", of: id, with: .device)
          return try await vault.randomRecord("root", byteCount: 32, in: unlocked).insecureCopy()
        }
      }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(made.count == 1)
    let again = try fixture.open()
    let unlocked = try await again.open("session", of: id, with: .device)
    #expect(try await again.randomRecord("root", byteCount: 32, in: unlocked).insecureCopy() == made.first)
    await #expect(throws: VaultFailure.invalidName) {
      _ = try await again.randomRecord("", byteCount: 32, in: unlocked)
    }
    try await again.deleteContainer(id)
    await #expect(throws: VaultFailure.noSuchContainer(id)) {
      _ = try await again.randomRecord("root", byteCount: 32, in: unlocked)
    }
  }
}
