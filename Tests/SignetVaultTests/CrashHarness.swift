import Foundation
import SignetSQLite
import SignetTestKit
import SignetVault
import Synchronization
import Testing

/// Copies a vault's folder before each statement, as a crash would leave it.
final class Photographer: Sendable {
  private let source: String
  private let target: String
  private let pictures = Recorder<String>()

  init(of source: String, into target: String) {
    self.source = source
    self.target = target
  }

  var folders: [String] { pictures.entries }

  func take() {
    let picture = "\(target)-\(pictures.entries.count)"
    // By another process: closing a copy in this one would release its own locks.
    do { _ = try ChildCommand(["/bin/cp", "-rp", source, picture]).finish() } catch { Issue.record(error) }
    pictures.record(picture)
  }
}

extension VaultFixture {
  /// The copies of the folder that a crash before each statement of a change leaves, and the final one.
  func pictures(
    cost: PasswordCost = .fixed(weak), of change: (Vault) async throws -> Void
  ) async throws -> [String] {
    let photographer = Photographer(of: directory, into: folder.file("crash"))
    let isRecording = Recorder<Bool>()
    let vault = try open(cost: cost) { (_) throws(SQLiteFailure) in
      if !isRecording.entries.isEmpty { photographer.take() }
    }
    isRecording.record(true)
    try await change(vault)
    photographer.take()
    return photographer.folders
  }

  /// Makes each statement of a change fail in turn, as on a full disk, until the change succeeds.
  ///
  /// - Parameters:
  ///   - keystore: The keystore of the vault.
  ///   - change: The change, which succeeds once, the last time.
  ///   - check: Called after each failure.
  /// - Returns: The number of failed statements.
  /// - Throws: Errors of opening the vault and of `check`.
  func failingEachStatement(
    keystore: (any HardwareKeystore)? = nil, of change: (Vault) async throws(VaultFailure) -> Void,
    check: (Int) async throws -> Void
  ) async throws -> Int {
    for number in 1...200 {
      let countdown = Countdown()
      let vault = try open(keystore: keystore) { (sql) throws(SQLiteFailure) in
        guard !sql.hasPrefix("ROLLBACK"), !sql.hasPrefix("PRAGMA wal") else { return }
        if countdown.isOver { throw .diskFull(extendedCode: 13) }
      }
      countdown.start(from: number)
      do throws(VaultFailure) {
        try await change(vault)
        return number - 1
      } catch { #expect(error == .diskFull) }
      try await check(number)
    }
    Issue.record("the change never succeeds")
    return 200
  }

  /// Opens a vault whose process is killed before its `number`th statement from now on.
  static func openDying(_ directory: String, beforeStatement number: Int) throws -> Vault {
    let countdown = Countdown()
    let vault = try open(directory) { (_) throws(SQLiteFailure) in
      if countdown.isOver { kill(getpid(), SIGKILL) }
    }
    countdown.start(from: number)
    return vault
  }
}

/// Counts down the calls after its start.
private final class Countdown: Sendable {
  private let left = Mutex<Int?>(nil)

  func start(from number: Int) { left.withLock { $0 = number } }

  /// Decrements the count; returns whether it reached zero.
  var isOver: Bool {
    left.withLock { left in
      left = left.map { $0 - 1 }
      return left == 0
    }
  }
}
