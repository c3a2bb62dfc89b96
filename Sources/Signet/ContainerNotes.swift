import SignetJSON

/// What a device remembers about a container and may forget: beside the secrets in the vault, which authenticates it.
struct ContainerNotes {
  /// When the server first said that it does not know the container, in seconds since 1970.
  var unknownToServerSince: Int64? {
    get {
      do { return try object.optionalInteger("unknownToServerSince") } catch { return nil }
    }
    set { object["unknownToServerSince"] = newValue.map { .integer($0) } }
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
