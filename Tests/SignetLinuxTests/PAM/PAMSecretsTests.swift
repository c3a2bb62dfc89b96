import Foundation
import SignetCrypto
import SignetTestKit
import SignetVault
import Testing

import SignetLinux

/// The remains of a passcode after PAM has ended.
@Suite(.timeLimit(.minutes(10)), .serialized) struct PAMSecretsTests {
  /// Answers with copies of one secret.
  private final class Person: PasscodeConversation {
    let answer: SharedSecretBox
    init(_ answer: SharedSecretBox) { self.answer = answer }
    func answer(_ prompt: PasscodePrompt) async -> SecretBytes? { answer.withSecret { $0.copy() } }
    func show(_ message: PasscodeMessage) async {}
  }

  /// A passcode that is only in wiped memory.
  private static func randomPasscode() -> SharedSecretBox {
    SharedSecretBox(
      SecretBytes(byteCount: 48) { output in
        for _ in 0..<48 { output.append(UInt8.random(in: 0x61...0x7A)) }
      })
  }

  @Test("the passcode does not stay in memory after pam_unix has checked it")
  func afterwards() async throws {
    let folder = try TemporaryFolder()
    try Data("auth required pam_unix.so nodelay\naccount required pam_unix.so\n".utf8)
      .write(to: URL(filePath: folder.file("signet")))
    let passcode = PAMPasscode(service: "signet", folder: folder.path)
    let secret = Self.randomPasscode()
    let search = try MemorySearch()
    secret.withSecret { search.add("passcode", $0) }
    let alone = ["passcode, begin": 1, "passcode, end": 1]
    #expect(try search.found() == alone)
    // Remains do not occur every time.
    for _ in 0..<10 {
      await #expect(throws: DevicePasscodeFailure.mismatch) {
        try await passcode.verify("Sign in", conversation: Person(secret))
      }
      #expect(try search.found() == alone)
    }
    withExtendedLifetime(secret) {}
  }

  @Test("secrets on the stack are wiped at the end of the thread, at any depth")
  func stack() throws {
    let secret = Self.randomPasscode()
    let search = try MemorySearch()
    secret.withSecret { search.add("passcode", $0) }
    var during: [String: Int] = [:]
    var failure: (any Error)?
    let isRun = WipedThread.run {
      Self.leave(secret, depth: 400)
      do { during = try search.found() } catch { failure = error }
    }
    #expect(isRun && failure == nil)
    // The control: it was found while the thread ran.
    #expect(during["passcode, begin", default: 0] > 1)
    #expect(try search.found() == ["passcode, begin": 1, "passcode, end": 1])
    withExtendedLifetime(secret) {}
  }

  @Test("the work runs on another thread and has ended when the call returns")
  func waits() {
    var threads: [pthread_t] = []
    for _ in 0..<3 {
      let isRun = WipedThread.run { threads.append(pthread_self()) }
      #expect(isRun)
    }
    #expect(threads.count == 3 && !threads.contains(pthread_self()))
  }

  /// Writes copies, one each KiB, up to the size of the stack, and returns without wiping them.
  @inline(never)
  private static func leave(_ secret: SharedSecretBox, depth: Int) {
    withUnsafeTemporaryAllocation(byteCount: 1_024, alignment: 16) { buffer in
      secret.withSecret { secret in
        secret.withBytes { bytes in bytes.withUnsafeBytes { buffer.copyMemory(from: $0) } }
      }
      if depth > 0 { leave(secret, depth: depth - 1) }
    }
  }
}
