public import SignetVault

/// A session that an app uses: unlocked once, good for a while, and then locked.
///
/// ``Session`` is one of a single process. Others are shared by the apps of a group: one unlocks for all, one locks for all.
public protocol SharedSession: Sendable {
  /// The apps that share the session and its data.
  var group: AppGroup { get }

  /// Whether it is unlocked.
  ///
  /// - Throws: ``SignetFailure/sharedSession(_:)`` where nobody can be asked.
  func state() async throws(SignetFailure) -> SessionState

  /// Unlocks, or begins anew where it is unlocked.
  ///
  /// - Parameter authentication: How the user shows who they are; `nil` where the device alone protects.
  /// - Throws: ``SignetFailure``: above all `wrongPassword`, `passwordRequired`, `lockedOut`.
  func unlock(by authentication: Authentication?) async throws(SignetFailure)

  /// Locks, and wipes what was unlocked; nothing happens where it is locked.
  ///
  /// - Throws: ``SignetFailure/sharedSession(_:)`` where nobody can be asked.
  func lock() async throws(SignetFailure)

  /// The key of a new text.
  ///
  /// - Parameter label: What the text is, 1 to 256 bytes of UTF-8; the same bytes are needed to decrypt it.
  /// - Returns: A key of its own, good until the session is locked.
  /// - Throws: ``SignetFailure/appData(_:)``: above all `locked`.
  func newTextKey(label: String) async throws(SignetFailure) -> AppDataKey

  /// The key of a text that was encrypted before.
  ///
  /// - Parameters:
  ///   - label: What it was encrypted with.
  ///   - header: Its first ``AppDataFormat/headerByteCount`` bytes, or more.
  /// - Returns: Its key, good until the session is locked.
  /// - Throws: ``SignetFailure/appData(_:)``: above all `locked`.
  func textKey(label: String, header: [UInt8]) async throws(SignetFailure) -> AppDataKey
}

/// Whether a session is unlocked.
public enum SessionState: Sendable, Hashable {
  /// It is, until it is locked or a limit is reached.
  case unlocked
  /// It is not; the reason says what to tell the user.
  case locked(LockReason)
}

extension SharedSession {
  /// Encrypts a blob.
  ///
  /// - Parameters:
  ///   - bytes: What to encrypt.
  ///   - label: What it is, 1 to 256 bytes of UTF-8; the same bytes are needed to decrypt it.
  /// - Returns: The encrypted blob: 53 bytes more, and 16 for each 64 KiB.
  /// - Throws: ``SignetFailure/appData(_:)``: above all `locked`.
  public func encrypt(_ bytes: [UInt8], label: String) async throws(SignetFailure) -> [UInt8] {
    var sealer = try await encryptor(label: label)
    do throws(AppDataFailure) {
      let begin = try sealer.update(bytes)
      return try begin + sealer.finish()
    } catch { throw .appData(error) }
  }

  /// Decrypts what ``encrypt(_:label:)`` or ``encryptor(label:)`` made.
  ///
  /// - Parameters:
  ///   - sealed: All of it.
  ///   - label: What it was encrypted with.
  /// - Returns: The text, whole and as it was.
  /// - Throws: ``SignetFailure/appData(_:)``.
  public func decrypt(_ sealed: [UInt8], label: String) async throws(SignetFailure) -> [UInt8] {
    var opener = try await decryptor(label: label, header: sealed)
    do throws(AppDataFailure) {
      let begin = try opener.update(Array(sealed.dropFirst(AppDataFormat.headerByteCount)))
      return try begin + opener.finish()
    } catch { throw .appData(error) }
  }

  /// Begins to encrypt a stream.
  ///
  /// - Parameter label: What it is, 1 to 256 bytes of UTF-8; the same bytes are needed to decrypt it.
  /// - Returns: What encrypts, until the session is locked.
  /// - Throws: ``SignetFailure/appData(_:)``: above all `locked`.
  public func encryptor(label: String) async throws(SignetFailure) -> AppDataSealer {
    AppDataSealer(try await newTextKey(label: label))
  }

  /// Begins to decrypt a stream.
  ///
  /// - Parameters:
  ///   - label: What it was encrypted with.
  ///   - header: The first ``AppDataFormat/headerByteCount`` bytes of the stream; what follows them goes to the opener.
  /// - Returns: What decrypts, until the session is locked.
  /// - Throws: ``SignetFailure/appData(_:)``: above all `locked`.
  public func decryptor(label: String, header: [UInt8]) async throws(SignetFailure) -> AppDataOpener {
    AppDataOpener(try await textKey(label: label, header: header))
  }
}
