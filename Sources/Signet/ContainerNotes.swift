import SignetJSON

/// What a device remembers about a container and may forget: beside the secrets in the vault, which authenticates it.
struct ContainerNotes {
  /// What the server's answers have shown, for people.
  enum Trait: String {
    /// The server does not know the container.
    case unknownToServer = "unknownToServerSince"
    /// The server's answers are signed by a key that no known key vouches for.
    case otherServerKey = "otherServerKeySince"
  }

  /// When something was first shown, in seconds since 1970; `nil` where it is not so.
  subscript(trait: Trait) -> Int64? {
    get {
      do { return try object.optionalInteger(trait.rawValue) } catch { return nil }
    }
    set { object[trait.rawValue] = newValue.map { .integer($0) } }
  }

  /// Whatever else a newer version keeps stays.
  var object: JSONObject

  /// Reads what was kept; nothing, and what is not ours, is no note.
  init(parsing bytes: [UInt8]) {
    do { object = try JSONObject(parsing: bytes, limits: Self.limits) } catch { object = [:] }
  }

  /// What the vault takes, which is more than a message has: imported accounts have policies and locks each.
  private static let limits = JSONLimits(maximumByteCount: 1 << 20, maximumMemberCount: 1 << 17)

  /// What is kept.
  var bytes: [UInt8] { object.isEmpty ? [] : JSONValue.object(object).bytes }
}
