import SignetCrypto
import Testing

@Suite(.timeLimit(.minutes(10))) struct SecretBytesTests {
  @Test("wiping overwrites every byte of memory that is still owned")
  func wipeOverwrites() {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 77, alignment: 16)
    defer { buffer.deallocate() }
    for index in buffer.indices { buffer[index] = 0xA5 }
    wipe(UnsafeMutableRawBufferPointer(rebasing: buffer[..<76]))
    #expect(buffer[..<76].allSatisfy { $0 == 0 })
    #expect(buffer[76] == 0xA5)  // and nothing beyond
  }

  @Test("an array is wiped in place, not in a copy")
  func arrayIsWipedInPlace() {
    var array = [UInt8](repeating: 0xA5, count: 100)
    let before = array.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
    array.wipe()
    #expect(array == [UInt8](repeating: 0, count: 100))
    #expect(array.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) } == before)
  }

  @Test("a temporary array has the secret's bytes, and errors of its user are rethrown")
  func lendsATemporaryArray() {
    struct Refusal: Error {}
    let secret = SecretBytes(copying: [1, 2, 3])
    let lent = secret.withTemporaryArray { $0 }
    #expect(lent == [1, 2, 3])
    do throws(Refusal) {
      try secret.withTemporaryArray { _ throws(Refusal) in throw Refusal() }
      Issue.record("what the user throws must come out")
    } catch {}
    let isUnchanged = secret.isEqual(to: SecretBytes(copying: [1, 2, 3]))
    #expect(isUnchanged)
  }

  @Test("the end of a secret's lifetime wipes its bytes (the memory is read back)")
  func deinitWipes() {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 32, alignment: 16)
    defer { buffer.deallocate() }
    for index in buffer.indices { buffer[index] = 0xA5 }
    do {
      let secret = SecretBytes(borrowing: buffer)
      #expect(secret.insecureCopy() == [UInt8](repeating: 0xA5, count: 32))
    }
    #expect(buffer.allSatisfy { $0 == 0 })
  }

  @Test("the last user of a box wipes the secret")
  func boxWipes() {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 32, alignment: 16)
    defer { buffer.deallocate() }
    for index in buffer.indices { buffer[index] = 0xA5 }
    var boxes = [SharedSecretBox(SecretBytes(borrowing: buffer))]
    boxes.append(boxes[0])
    boxes.removeLast()
    #expect(buffer.allSatisfy { $0 == 0xA5 })
    boxes.removeLast()
    #expect(buffer.allSatisfy { $0 == 0 })
  }

  @Test(
    "a secret of any size keeps its bytes", arguments: [0, 1, 64, 65, 512, 513, 4096, 4097, 99_999])
  func keepsBytes(_ count: Int) {
    let original = SecureRandom.bytes(count)
    let secret = SecretBytes(copying: original)
    #expect(secret.byteCount == count)
    #expect(secret.insecureCopy() == original)
    let seen = secret.withBytes { $0.byteCount }
    #expect(seen == count)
  }

  @Test("more secrets than the locked memory has room for do not share bytes")
  func outgrowsLockedMemory() {
    let boxes = (0..<6000).map { number in
      SharedSecretBox(SecretBytes(copying: [UInt8](repeating: UInt8(number % 251), count: 1 + number % 700)))
    }
    for (number, box) in boxes.enumerated() {
      let kept = box.withSecret { $0.insecureCopy() }
      #expect(kept == [UInt8](repeating: UInt8(number % 251), count: 1 + number % 700))
    }
  }

  @Test("50 tasks make, read and drop secrets at once")
  func manyTasks() async {
    await withTaskGroup(of: Bool.self) { group in
      for number in 0..<50 {
        group.addTask {
          (0..<200).allSatisfy { round in
            let expected = [UInt8](repeating: UInt8(number), count: 1 + round * 3)
            let secret = SecretBytes(copying: expected)
            return secret.copy().insecureCopy() == expected
          }
        }
      }
      for await kept in group { #expect(kept) }
    }
  }

  @Test func fillWritesInPlace() {
    let secret = SecretBytes(byteCount: 3) { output in
      for byte in [1, 2, 3] as [UInt8] { output.append(byte) }
    }
    #expect(secret.insecureCopy() == [1, 2, 3])
    let first = secret.withUInt8Span { $0[0] }
    #expect(first == 1)
  }

  @Test func lendingPassesErrorsOn() {
    let secret = SecretBytes.random(byteCount: 16)
    #expect(throws: CryptoFailure.authenticationFailed) {
      try secret.withBytes { (_) throws(CryptoFailure) in throw .authenticationFailed }
    }
  }

  @Test func comparesByContent() {
    let one = SecretBytes(copying: [1, 2, 3])
    let outcomes = (
      one.isEqual(to: one.copy()), one.isEqual(to: SecretBytes(copying: [1, 2, 4])),
      one.isEqual(to: SecretBytes(copying: [1, 2])),
      SecretBytes(copying: []).isEqual(to: SecretBytes(copying: []))
    )
    #expect(outcomes == (true, false, false, true))
    #expect(constantTimeEqual([1, 2], [1, 2]))
    #expect(!constantTimeEqual([1, 2], [1, 3]))
    #expect(!constantTimeEqual([1, 2], [1, 2, 3]))
    #expect(constantTimeEqual([], []))
  }

  @Test func joinsAndCombines() {
    let left = SecretBytes(copying: [0x0F, 0xF0])
    let right = SecretBytes(copying: [0xFF, 0x01])
    #expect(left.joined(with: right).insecureCopy() == [0x0F, 0xF0, 0xFF, 0x01])
    #expect(left.joined(with: SecretBytes(copying: [])).insecureCopy() == [0x0F, 0xF0])
    #expect(SecretBytes(copying: []).joined(with: right).insecureCopy() == [0xFF, 0x01])
    #expect(left.exclusiveOr(with: right).insecureCopy() == [0xF0, 0xF1])
    #expect(left.exclusiveOr(with: right).exclusiveOr(with: right).insecureCopy() == [0x0F, 0xF0])
  }

  @Test("random secrets and bytes differ from each other and are not zeros")
  func randomness() {
    let secrets = Set((0..<100).map { _ in SecretBytes.random(byteCount: 32).insecureCopy() })
    #expect(secrets.count == 100)
    let arrays = Set((0..<100).map { _ in SystemRandomSource().bytes(32) })
    #expect(arrays.count == 100)
    #expect(arrays.isDisjoint(with: secrets))
    #expect(SecureRandom.bytes(0).isEmpty)
    #expect(SecretBytes.random(byteCount: 0).insecureCopy().isEmpty)
  }
}

@Suite(.timeLimit(.minutes(10))) struct SecretPreconditionTests {
  @Test func fillMustWriteEverything() async {
    await #expect(processExitsWith: .failure) {
      _ = SecretBytes(byteCount: 2) { $0.append(UInt8(1)) }
    }
  }

  @Test func fillMustNotWriteMore() async {
    await #expect(processExitsWith: .failure) {
      _ = SecretBytes(byteCount: 1) { output in
        output.append(UInt8(1))
        output.append(UInt8(2))
      }
    }
  }

  @Test func countMustNotBeNegative() async {
    await #expect(processExitsWith: .failure) { _ = SecretBytes(byteCount: -1) { _ in } }
    await #expect(processExitsWith: .failure) { _ = SecretBytes.random(byteCount: -1) }
    await #expect(processExitsWith: .failure) { _ = SecureRandom.bytes(-1) }
  }

  @Test func exclusiveOrNeedsOneLength() async {
    await #expect(processExitsWith: .failure) {
      _ = SecretBytes(copying: [1]).exclusiveOr(with: SecretBytes(copying: [1, 2]))
    }
  }
}
