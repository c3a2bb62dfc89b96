public import SignetVault

/// A session of an app: unlocked once, for a limited time, and then locked.
///
/// A ``Session`` belongs to one process. Other implementations are shared by the apps of a group: each of them unlocks
/// and locks it for all.
public protocol SharedSession: Sendable {
  /// The apps that share the session and its data.
  var group: AppGroup { get }

  /// Returns whether it is unlocked.
  ///
  /// - Throws: ``SignetError/sharedSession(_:)`` if the agent cannot be reached.
  func state() async throws(SignetError) -> SessionState

  /// Unlocks the session; if it is unlocked, its limits start again.
  ///
  /// - Parameter authentication: The credential; `nil` if the device protects the container alone.
  /// - Throws: ``SignetError``, in particular `wrongPassword`, `passwordRequired`, `lockedOut`.
  func unlock(by authentication: Authentication?) async throws(SignetError)

  /// Locks the session and wipes its keys; a locked session is left unchanged.
  ///
  /// - Throws: ``SignetError/sharedSession(_:)`` if the agent cannot be reached.
  func lock() async throws(SignetError)

  /// Derives the key of a new text.
  ///
  /// - Parameter label: The label of the text, 1 to 256 bytes of UTF-8; decryption needs the same bytes.
  /// - Returns: A new key, usable until the session is locked.
  /// - Throws: ``SignetError/appData(_:)``, in particular `locked`.
  func newTextKey(label: String) async throws(SignetError) -> AppDataKey

  /// Derives the key of an encrypted text.
  ///
  /// - Parameters:
  ///   - label: The label from its encryption.
  ///   - header: Its first ``AppDataFormat/headerByteCount`` bytes, or more.
  /// - Returns: Its key, usable until the session is locked.
  /// - Throws: ``SignetError/appData(_:)``, in particular `locked`.
  func textKey(label: String, header: [UInt8]) async throws(SignetError) -> AppDataKey
}

/// The lock state of a session.
public enum SessionState: Sendable, Hashable {
  /// Unlocked, until it is locked or a limit is reached.
  case unlocked
  /// Locked, with the reason to show to the user.
  case locked(LockReason)
}

extension SharedSession {
  /// Encrypts a blob.
  ///
  /// - Parameters:
  ///   - bytes: The blob.
  ///   - label: Its label, 1 to 256 bytes of UTF-8; decryption needs the same bytes.
  /// - Returns: The encrypted blob: 53 bytes more, and 16 for each 64 KiB.
  /// - Throws: ``SignetError/appData(_:)``, in particular `locked`.
  public func encrypt(_ bytes: [UInt8], label: String) async throws(SignetError) -> [UInt8] {
    var sealer = try await encryptor(label: label)
    do throws(AppDataFailure) {
      let begin = try sealer.update(bytes)
      return try begin + sealer.finish()
    } catch { throw .appData(error) }
  }

  /// Decrypts the output of ``encrypt(_:label:)`` or ``encryptor(label:)``.
  ///
  /// - Parameters:
  ///   - sealed: The complete encrypted blob.
  ///   - label: The label from its encryption.
  /// - Returns: The complete, authenticated text.
  /// - Throws: ``SignetError/appData(_:)``.
  public func decrypt(_ sealed: [UInt8], label: String) async throws(SignetError) -> [UInt8] {
    var opener = try await decryptor(label: label, header: sealed)
    do throws(AppDataFailure) {
      let begin = try opener.update(Array(sealed.dropFirst(AppDataFormat.headerByteCount)))
      return try begin + opener.finish()
    } catch { throw .appData(error) }
  }

  /// Starts the encryption of a stream.
  ///
  /// - Parameter label: The label of the stream, 1 to 256 bytes of UTF-8; decryption needs the same bytes.
  /// - Returns: The sealer, usable until the session is locked.
  /// - Throws: ``SignetError/appData(_:)``, in particular `locked`.
  public func encryptor(label: String) async throws(SignetError) -> AppDataSealer {
    AppDataSealer(try await newTextKey(label: label))
  }

  /// Starts the decryption of a stream.
  ///
  /// - Parameters:
  ///   - label: The label from its encryption.
  ///   - header: The first ``AppDataFormat/headerByteCount`` bytes of the stream; pass the bytes after them to the opener.
  /// - Returns: The opener, usable until the session is locked.
  /// - Throws: ``SignetError/appData(_:)``, in particular `locked`.
  public func decryptor(label: String, header: [UInt8]) async throws(SignetError) -> AppDataOpener {
    AppDataOpener(try await textKey(label: label, header: header))
  }
}
