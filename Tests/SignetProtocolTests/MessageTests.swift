import SignetCrypto
import SignetJSON
import SignetProtocol
import SignetTestKit
import Testing

/// Common properties of all messages: a written message can be read, and values outside the protocol are rejected.
@Suite struct MessageTests {
  @Test(arguments: try MessageSample.all()) func readsWhatItWrites(_ sample: MessageSample) throws {
    #expect(try sample.reprint(sample.bytes) == sample.bytes)
  }

  @Test(arguments: try MessageSample.all()) func ignoresUnknownMembers(_ sample: MessageSample) throws {
    #expect(throws: Never.self) { try sample.reprint(sample.setting("later", to: ["x": [1, 2]])) }
  }

  @Test(arguments: try MessageSample.all()) func refusesWhatIsMissing(_ sample: MessageSample) throws {
    let optional =
      ["problem": ["title", "status", "detail"], "confirm": ["confirmation"]][sample.name] ?? []
    for (name, _) in try JSONObject(parsing: sample.bytes).members where !optional.contains(name) {
      #expect(throws: (any Error).self, "without \(name)") {
        try sample.reprint(sample.setting(name, to: nil))
      }
      #expect(throws: (any Error).self, "\(name) of another type") {
        try sample.reprint(sample.setting(name, to: .bool(true)))
      }
    }
  }

  @Test(arguments: try MessageSample.all()) func refusesDuplicatesAndExcess(_ sample: MessageSample) throws {
    let (name, _) = try #require(try JSONObject(parsing: sample.bytes).members.first)
    let text = String(decoding: sample.bytes, as: UTF8.self)
    for bad in [
      "{\"\(name)\":1," + text.dropFirst(), text + "{}", String(text.dropLast()), "[]", "", "null",
      text.dropLast() + ",\"pad\":\"" + String(repeating: "x", count: 655_360) + "\"}",
      text.dropLast() + ",\"deep\":" + String(repeating: "[", count: 40)
        + String(repeating: "]", count: 40) + "}",
    ] {
      #expect(throws: (any Error).self) { try sample.reprint(Array(bad.utf8)) }
    }
  }

  @Test(arguments: [
    "start", "offer", "core", "receipt", "decision", "renewal start", "renewal offer", "renewal core",
    "end notice",
  ])
  func refusesOtherVersions(_ name: String) throws {
    let sample = try MessageSample.named(name)
    for version in [0, 2, -1, Int64.max] {
      #expect(throws: WireFailure.unsupportedVersion(version)) {
        try sample.reprint(sample.setting("version", to: .integer(version)))
      }
    }
  }

  @Test(
    "10,000 random changes of each message are read or refused",
    arguments: try MessageSample.all())
  func survivesRandomChanges(_ sample: MessageSample) throws {
    var random = SplitMix64(seed: 0x5167_6E65)
    let alphabet = Array("{}[]\",:\\0123456789-eE.truefalsn \u{0}\u{7F}".utf8) + [0xC3, 0xED, 0xF0, 0xFF]
    var accepted = 0
    for _ in 0..<10_000 {
      var bytes = sample.bytes
      for _ in 0...Int(random.next() % 3) {
        let index = Int(random.next() % UInt64(max(1, bytes.count)))
        switch random.next() % 4 {
        case 0 where !bytes.isEmpty: bytes[index] = alphabet[Int(random.next() % UInt64(alphabet.count))]
        case 1 where !bytes.isEmpty: bytes.remove(at: index)
        case 2: bytes.insert(alphabet[Int(random.next() % UInt64(alphabet.count))], at: index)
        default: bytes.removeLast(min(bytes.count, Int(random.next() % 40)))
        }
      }
      guard let printed = Self.attempt(sample, bytes) else { continue }
      accepted += 1
      // An accepted message has the same meaning when it is read again.
      #expect(Self.attempt(sample, printed) == printed)
    }
    #expect(accepted < 10_000)
  }

  private static func attempt(_ sample: MessageSample, _ bytes: [UInt8]) -> [UInt8]? {
    do { return try sample.reprint(bytes) } catch { return nil }
  }
}
