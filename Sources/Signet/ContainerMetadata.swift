import SignetJSON

/// Observations about a container that may be lost without harm; the vault stores and authenticates them in the container's attributes.
struct ContainerMetadata {
  /// An observation from the server's answers, for display.
  enum Trait: String {
    /// The server does not know the container.
    case unknownToServer = "unknownToServerSince"
    /// The server's answers are signed with a key that no known key vouches for.
    case otherServerKey = "otherServerKeySince"
  }

  /// The time of the first such observation, in seconds since 1970; `nil` if it does not apply.
  subscript(trait: Trait) -> Int64? {
    get {
      do { return try object.optionalInteger(trait.rawValue) } catch { return nil }
    }
    set { object[trait.rawValue] = newValue.map { .integer($0) } }
  }

  /// All members, including those of a newer version, which are preserved.
  var object: JSONObject

  /// Parses stored metadata; empty or unreadable bytes yield none.
  init(parsing bytes: [UInt8]) {
    do { object = try JSONObject(parsing: bytes, limits: Self.limits) } catch { object = [:] }
  }

  /// The vault's limits, which exceed those of a message, because each imported account has its policies and locks here.
  private static let limits = JSONLimits(maximumByteCount: 1 << 20, maximumMemberCount: 1 << 17)

  /// The bytes to store; empty if there is no metadata.
  var bytes: [UInt8] { object.isEmpty ? [] : JSONValue.object(object).bytes }
}
