/// The reason why app data was not encrypted or decrypted.
@nonexhaustive public enum AppDataFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The session is locked.
  case locked(LockReason)
  /// The container has a silent lock, and its app data would reveal whether a password is right.
  case silentLock
  /// The bytes do not start with an app data header.
  case notAppData
  /// A newer version wrote the data.
  case tooNew(version: UInt8)
  /// The data was changed, truncated or reordered, or encrypted for another label, app group or container.
  case damaged
  /// The label does not have 1 to 256 bytes.
  case invalidLabel
  /// The data has more than 256 TiB.
  case tooLong

  /// The failure and the remedy.
  public var description: String {
    switch self {
    case .locked(let reason): "the app's data is \(reason)"
    case .silentLock:
      "a container with a silent lock cannot hold app data, which would reveal whether a password is right; use another container"
    case .notAppData: "these bytes are not encrypted app data; check which file was read"
    case .tooNew(let version): "the data has version \(version) of the format; update the app"
    case .damaged:
      "the data cannot be decrypted: it was changed or truncated, or belongs to another label, group of apps or container"
    case .invalidLabel: "the label does not have 1 to 256 bytes of UTF-8; choose another"
    case .tooLong: "the data is longer than 256 TiB; write it in parts"
    }
  }
}
