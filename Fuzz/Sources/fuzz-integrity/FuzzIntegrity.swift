import LibFuzzer
import SignetCrypto
import SignetJOSE
import SignetJSON

// The checks of the process and its files are not public: apps get findings.
@testable import SignetIntegrity

@main struct FuzzIntegrity {
  static func main() { LibFuzzer.run(check) }

  private static func check(_ input: [UInt8]) {
    if input.starts(with: [0x7F]) { return checkImage(input) }
    checkMap(input)
    checkManifest(input)
    checkChild(input)
    checkSettings(input)
    checkTables(input)
  }

  /// The kernel's tables of processes and connections, which contain names and addresses that others choose.
  private static func checkTables(_ input: [UInt8]) {
    let text = String(decoding: input, as: UTF8.self)
    let numbers = [ProcessStatus.tracer(in: text), ProcessStatus.filterMode(in: text)]
    require(
      numbers == [nil, nil] || text.contains("TracerPid:") || text.contains("Seccomp:"), "a number is there")
    let port = InstrumentationGuard.toolkitPort(in: input)
    require(port == nil || text.contains("0A"), "what does not listen is no toolkit")
  }

  // MARK: Manifests

  private static let key = key(1)
  private static let stranger = key(65)

  private static func key(_ first: UInt8) -> P256.Signing.PrivateKey {
    made("a key") { () throws(CryptoFailure) in
      try P256.Signing.PrivateKey(rawRepresentation: SecretBytes(copying: Array(first...(first + 31))))
    }
  }

  private static func checkManifest(_ input: [UInt8]) {
    let text = String(decoding: input, as: UTF8.self)
    require(manifest(text, stranger.publicKey) == nil, "nobody signed this")
    guard input.first == UInt8(ascii: "{") else { return }
    func signed(_ type: String) -> String {
      made("a JWS") { () throws(JOSEFailure) in try JWS.sign(input, with: SigningKey(key), type: type) }
    }
    guard let read = manifest(signed("signet-release"), key.publicKey) else { return }
    require(manifest(signed("signet-release"), stranger.publicKey) == nil, "another key did not sign it")
    require(manifest(signed("signet-releases"), key.publicKey) == nil, "it is signed as a manifest")
    require(manifest(changed(signed("signet-release"), by: input), key.publicKey) == nil, "nor changed")
    require(read.programs.allSatisfy { $0.digest.count == 32 }, "a digest has 32 bytes")
    let again = made("a manifest") { () throws(ManifestFailure) in try read.signed(with: key) }
    if again.utf8.count <= ReleaseManifest.byteLimit {
      require(manifest(again + "\n", key.publicKey) == read, "signing a manifest loses nothing")
    }
    for program in read.programs {
      require(read.verdict(on: program) != .unknown, "a program that is listed is known")
      let other = ReleaseManifest.Program(
        name: program.name, byteCount: program.byteCount, digest: program.digest.map { ~$0 })
      // If a name occurs twice, the first entry counts.
      if read.verdict(on: program) == .same {
        require(read.verdict(on: other) == .changed, "another program is noticed")
      }
    }
  }

  private static func manifest(_ text: String, _ key: P256.Signing.PublicKey) -> ReleaseManifest? {
    accepted { () throws(ManifestFailure) in try ReleaseManifest(verifying: text, with: key) }
  }

  /// Returns the text with another character behind the header.
  private static func changed(_ text: String, by input: [UInt8]) -> String {
    var bytes = Array(text.utf8)
    let start = (bytes.firstIndex(of: UInt8(ascii: ".")) ?? 0) + 1
    let place = start + input.reduce(0) { ($0 * 31 + Int($1)) % 0xFFFF } % (bytes.count - start)
    bytes[place] = UInt8(ascii: bytes[place] == UInt8(ascii: "A") ? "B" : "A")
    return String(decoding: bytes, as: UTF8.self)
  }

  // MARK: Maps

  private static func checkMap(_ input: [UInt8]) {
    let map = MemoryMap(parsing: input)
    require(map.mappings.count <= input.split(separator: 10).count, "a mapping is a line")
    for mapping in map.mappings {
      require(mapping.start < mapping.end, "a mapping has an end")
      require(!mapping.name.utf8.contains(10), "a name is one line")
    }
    let text = map.mappings.map(line).joined(separator: "\n")
    require(MemoryMap(parsing: Array(text.utf8)) == map, "a map that is written is read")
    // In the kernel's order: by address, without overlaps.
    let inOrder = zip(map.mappings, map.mappings.dropFirst()).allSatisfy { $0.end <= $1.start }
    guard inOrder else { return }
    for address in map.mappings.flatMap({ [$0.start, $0.end - 1, $0.end, $0.start &- 1] }) {
      let found = map.mappings.first { $0.start <= address && address < $0.end }
      require(map.mapping(at: address) == found, "an address is found where it lies")
    }
  }

  private static func line(_ mapping: MemoryMap.Mapping) -> String {
    func hexadecimal(_ number: UInt64) -> String { String(number, radix: 16) }
    func right(_ letter: Character, _ isThere: Bool) -> String { isThere ? String(letter) : "-" }
    let rights =
      right("r", mapping.isReadable) + right("w", mapping.isWritable) + right("x", mapping.isExecutable) + "p"
    return
      "\(hexadecimal(mapping.start))-\(hexadecimal(mapping.end)) \(rights) \(hexadecimal(mapping.offset)) 0:0 "
      + "\(mapping.fileNumber) \(mapping.name)"
  }

  // MARK: Images

  /// Memory with the input at an address.
  private struct Memory: ByteSource {
    static let base: UInt64 = 0x7000
    let content: [UInt8]

    func bytes(at address: UInt64, count: Int) -> [UInt8]? {
      guard count >= 0, address >= Self.base, address - Self.base <= UInt64(content.count),
        UInt64(content.count) - (address - Self.base) >= UInt64(count)
      else { return nil }
      return Array(content[Int(address - Self.base)...].prefix(count))
    }
  }

  private static func checkImage(_ input: [UInt8]) {
    let memory = Memory(content: input)
    guard let image = ELFImage(at: Memory.base, in: memory) else { return }
    require(!image.segments.isEmpty && image.segments.count <= 64, "segments are bounded")
    for name in image.needed + image.searchFolders + (image.soname.map { [$0] } ?? []) {
      // Invalid UTF-8 becomes a replacement character of three bytes.
      require(!name.utf8.contains(0) && name.utf8.count <= 3 * 4096, "a name ends and is bounded")
    }
    let wanted: Set<String> = ["read", "memcmp", "f"]
    for slot in image.slots(of: wanted, in: memory) {
      require(wanted.contains(slot.function), "only what is asked for is found")
    }
    require(image.slots(of: [], in: memory).isEmpty, "nothing is found where nothing is asked for")
    for name in wanted {
      guard let address = image.address(of: name, in: memory) else { continue }
      guard let offset = image.fileOffset(of: address, count: 4) else { continue }
      let isThere = image.segments.contains {
        $0.fileByteCount >= 4 && offset &- $0.fileOffset <= $0.fileByteCount - 4
      }
      require(isThere, "what comes from the file lies in a segment of it")
    }
  }

  // MARK: What a guard's process answers, and settings

  private static func checkChild(_ input: [UInt8]) {
    guard case .finished(let evidence)? = GuardChild.Outcome(parsing: input) else { return }
    let text: JSONObject = ["evidence": .array(evidence.map { .object($0.json) })]
    guard case .finished(let again)? = GuardChild.Outcome(parsing: text.bytes) else {
      return require(false, "evidence that is written is read")
    }
    require(again.map(\.json) == evidence.map(\.json), "and is the same")
    require(evidence.allSatisfy { (0...1).contains($0.finding.weight) }, "a weight is within its bounds")
  }

  private static func checkSettings(_ input: [UInt8]) {
    guard let object = accepted({ () throws(JSONFailure) in try JSONObject(parsing: input) }),
      let settings = settings(object)
    else { return }
    require(self.settings(settings.json) == settings, "settings that are written are read")
    require(settings.threshold > 0 && settings.threshold <= 1, "a threshold can be reached")
    let hardened = standard.hardened(by: settings)
    require(hardened.threshold <= standard.threshold, "others make settings harder, and nowhere milder")
  }

  private static let standard = IntegritySettings(reaction: .report)

  private static func settings(_ object: JSONObject) -> IntegritySettings? {
    accepted { () throws(IntegrityFailure) in try IntegritySettings(object, over: standard) }
  }
}
