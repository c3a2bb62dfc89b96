import Foundation
import SignetCrypto
import Testing

@Suite(.timeLimit(.minutes(10))) struct Argon2idTests {
  @Test("RFC 9106 section 5.3")
  func matchesTheStandard() throws {
    let derived = try Argon2id(memoryKiB: 32, passes: 3, lanes: 4).derive(
      password: SecretBytes(copying: [UInt8](repeating: 1, count: 32)),
      salt: [UInt8](repeating: 2, count: 16), secret: SecretBytes(copying: [UInt8](repeating: 3, count: 8)),
      associatedData: [UInt8](repeating: 4, count: 12), byteCount: 32)
    #expect(
      Hex.encode(derived.insecureCopy())
        == "0d640df58d78766c08c037a34a8b53c9d01ef0452d75b65eb52520e96b01e659")
  }

  @Test("the reference implementation's test of 64 MiB")
  func matchesTheReference() throws {
    let derived = try Argon2id(memoryKiB: 65_536, passes: 2, lanes: 1).derive(
      password: SecretBytes(copying: ascii("password")), salt: ascii("somesalt"), byteCount: 32)
    #expect(
      Hex.encode(derived.insecureCopy())
        == "09316115d5cf24ed5a15a31a3ba326e5cf32edc24702987c02b6566f61913cf7")
  }

  #if os(Linux)
    @Test("a derivation beyond the memory is refused; others continue")
    func noMemory() async {
      await #expect(processExitsWith: .success) {
        let sizes = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
        let used = try #require(sizes.first.flatMap { UInt($0) }) * UInt(getpagesize())
        var limit = rlimit(rlim_cur: used + 512 << 20, rlim_max: used + 512 << 20)
        #expect(setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0)
        #expect(throws: CryptoFailure.outOfMemory) {
          _ = try Argon2id(memoryKiB: 1 << 20, passes: 1, lanes: 1).derive(
            password: SecretBytes(copying: [1]), salt: [UInt8](repeating: 2, count: 16), byteCount: 32)
        }
        let least = try Argon2id.minimum.derive(
          password: SecretBytes(copying: [1]), salt: [UInt8](repeating: 2, count: 16), byteCount: 32)
        #expect(least.byteCount == 32)
      }
    }
  #endif

  @Test("password, salt, secret, associated data and cost all enter the key")
  func everythingCounts() throws {
    let cost = Argon2id(memoryKiB: 8, passes: 1, lanes: 1)
    let costlier = Argon2id(memoryKiB: 8, passes: 2, lanes: 1)
    let wider = Argon2id(memoryKiB: 16, passes: 1, lanes: 1)
    let keys = try [
      derive(cost), derive(cost, password: [2]), derive(cost, salt: [UInt8](repeating: 9, count: 8)),
      derive(cost, secret: [1]), derive(cost, associatedData: [1]), derive(costlier), derive(wider),
    ]
    #expect(Set(keys).count == keys.count)
    #expect(try derive(cost) == keys[0])
    #expect(try derive(cost, password: []).count == 32)
  }

  @Test(
    "refusals",
    arguments: [
      (Argon2id(memoryKiB: 7, passes: 1, lanes: 1), CryptoFailure.Parameter.memoryKiB),
      (Argon2id(memoryKiB: 31, passes: 1, lanes: 4), .memoryKiB),
      (Argon2id(memoryKiB: 1024 * 1024 + 1, passes: 1, lanes: 1), .memoryKiB),
      (Argon2id(memoryKiB: .max, passes: 1, lanes: 1), .memoryKiB),
      (Argon2id(memoryKiB: 8, passes: 0, lanes: 1), .passes),
      (Argon2id(memoryKiB: 8, passes: 65, lanes: 1), .passes),
      (Argon2id(memoryKiB: 8, passes: 1, lanes: 0), .lanes),
      (Argon2id(memoryKiB: 8, passes: 1, lanes: 17), .lanes),
      (Argon2id(memoryKiB: .min, passes: .min, lanes: .min), .lanes),
    ])
  func refusesCosts(_ cost: Argon2id, _ parameter: CryptoFailure.Parameter) throws {
    let failure = try #require(throws: CryptoFailure.self) { try derive(cost) }
    guard case .parameterOutOfRange(parameter, _, _) = failure else {
      Issue.record("refused for another reason: \(failure)")
      return
    }
  }

  @Test func refusesLengths() {
    let cost = Argon2id(memoryKiB: 8, passes: 1, lanes: 1)
    #expect(throws: CryptoFailure.parameterOutOfRange(.saltByteCount, 7, allowed: 8...1024)) {
      try derive(cost, salt: [UInt8](repeating: 0, count: 7))
    }
    #expect(throws: CryptoFailure.parameterOutOfRange(.outputByteCount, 3, allowed: 4...1024)) {
      try derive(cost, byteCount: 3)
    }
    #expect(throws: CryptoFailure.parameterOutOfRange(.outputByteCount, 1025, allowed: 4...1024)) {
      try derive(cost, byteCount: 1025)
    }
    #expect(throws: CryptoFailure.parameterOutOfRange(.passwordByteCount, 65_537, allowed: 0...65_536)) {
      try derive(cost, password: [UInt8](repeating: 0, count: 65_537))
    }
  }

  private func derive(
    _ cost: Argon2id, password: [UInt8] = [1], salt: [UInt8] = [UInt8](repeating: 0, count: 8),
    secret: [UInt8] = [], associatedData: [UInt8] = [], byteCount: Int = 32
  ) throws -> [UInt8] {
    try cost.derive(
      password: SecretBytes(copying: password), salt: salt, secret: SecretBytes(copying: secret),
      associatedData: associatedData, byteCount: byteCount
    ).insecureCopy()
  }
}

@Suite(.timeLimit(.minutes(10))) struct Argon2idCalibrationTests {
  /// Calibrates for a machine on which one pass over one MiB takes this many microseconds.
  private func calibrated(
    milliseconds: Int, microsecondsPerMiBPass: Int
  ) throws(CryptoFailure) -> Argon2id {
    try Argon2id.calibrated(milliseconds: milliseconds) { cost in
      .microseconds(cost.memoryKiB * cost.passes * microsecondsPerMiBPass / 1024)
    }
  }

  @Test("a slow machine gets the minimum cost, never less")
  func slowMachine() throws {
    #expect(try calibrated(milliseconds: 100, microsecondsPerMiBPass: 100_000) == .minimum)
    #expect(try calibrated(milliseconds: 1, microsecondsPerMiBPass: 500) == .minimum)
  }

  @Test(
    "a machine that is far too slow for the minimum is measured once", arguments: [(159, false), (160, true)])
  func muchTooSlowMachine(_ milliseconds: Int, _ isOnce: Bool) throws {
    var count = 0
    let cost = try Argon2id.calibrated(milliseconds: 10) { _ in
      count += 1
      return .milliseconds(milliseconds)
    }
    #expect(cost == .minimum && (count == 1) == isOnce, "\(count) times")
  }

  @Test("calibration raises the memory first")
  func ordinaryMachine() throws {
    // 19 MiB and 2 passes take 38 ms at 1 ms for each MiB and pass: 152 ms is four times that.
    let cost = try calibrated(milliseconds: 152, microsecondsPerMiBPass: 1000)
    #expect(cost == Argon2id(memoryKiB: 4 * 19 * 1024, passes: 2, lanes: 1))
  }

  @Test("calibration then raises the passes, within their bounds")
  func fastMachine() throws {
    let cost = try calibrated(milliseconds: 2048, microsecondsPerMiBPass: 1000)
    #expect(cost == Argon2id(memoryKiB: Argon2id.calibratedMemoryLimitKiB, passes: 8, lanes: 1))
    let endless = try calibrated(milliseconds: 60_000, microsecondsPerMiBPass: 0)
    #expect(endless == Argon2id(memoryKiB: Argon2id.calibratedMemoryLimitKiB, passes: 64, lanes: 1))
  }

  @Test("on this machine too, the result is at least the minimum and can be used")
  func thisMachine() throws {
    let cost = try Argon2id.calibrated(milliseconds: 1)
    #expect(cost.meetsMinimum)
    let key = try cost.derive(
      password: SecretBytes(copying: [1]), salt: [UInt8](repeating: 0, count: 16), byteCount: 32)
    #expect(key.byteCount == 32)
  }

  @Test func refusesSillyTimes() {
    for milliseconds in [Int.min, 0, 60_001, .max] {
      #expect(
        throws: CryptoFailure.parameterOutOfRange(.milliseconds, milliseconds, allowed: 1...60_000)
      ) { try Argon2id.calibrated(milliseconds: milliseconds) }
    }
  }

  @Test func knowsTheMinimum() {
    #expect(Argon2id.minimum == Argon2id(memoryKiB: 19_456, passes: 2, lanes: 1))
    #expect(Argon2id.minimum.meetsMinimum)
    #expect(!Argon2id(memoryKiB: 19_455, passes: 2, lanes: 1).meetsMinimum)
    #expect(!Argon2id(memoryKiB: 19_456, passes: 1, lanes: 1).meetsMinimum)
  }
}
