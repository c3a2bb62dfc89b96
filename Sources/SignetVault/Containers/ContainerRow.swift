import SignetSQLite

/// Containers as rows.
extension Container {
  private static let columns =
    "id, state, created, user_id, server, name, server_id, authorities, pins, protocol_facts, extra, mac"
  private static let pinByteCount = 32

  /// The containers that `row`s hold, oldest first.
  ///
  /// - Returns: Those whose code is right, and the rest as the names they claim.
  static func all(in database: Database, _ seal: RowSeal) throws -> (
    sound: [Container], altered: [ContainerID?]
  ) {
    var sound: [Container] = []
    var altered: [ContainerID?] = []
    for row in try database.query("SELECT \(columns) FROM container ORDER BY created, number") {
      do throws(VaultFailure) { sound.append(try Container(row, seal)) } catch .altered(.container(let id)) {
        altered.append(id)
      }
    }
    return (sound, altered)
  }

  /// The container of this name.
  ///
  /// - Throws: ``VaultFailure/noSuchContainer(_:)``, ``VaultFailure/altered(_:)``, ``SQLiteFailure``.
  static func find(_ id: ContainerID, in database: Database, _ seal: RowSeal) throws -> Container {
    let rows = try database.query("SELECT \(columns) FROM container WHERE id = ?", .blob(id.bytes))
    guard let row = rows.first else { throw VaultFailure.noSuchContainer(id) }
    return try Container(row, seal)
  }

  /// Adds the container.
  func insert(into database: Database, _ seal: RowSeal) throws {
    try database.execute(
      "INSERT INTO container (\(Self.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values(seal))
  }

  /// Replaces what the row says.
  func update(in database: Database, _ seal: RowSeal) throws {
    try database.execute(
      """
      UPDATE container SET (\(Self.columns)) = (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) WHERE id = ?
      """, values(seal) + [.blob(id.bytes)])
  }

  private init(_ row: Row, _ seal: RowSeal) throws(VaultFailure) {
    var id: ContainerID?
    do {
      id = Identifier(try row.blob("id")).map(ContainerID.init)
      let pins = try row.blob("pins")
      guard let id, let state = State(rawValue: try row.integer("state")), pins.count % Self.pinByteCount == 0
      else { throw VaultFailure.altered(.container(id)) }
      self.id = id
      self.state = state
      created = try row.integer("created")
      attributes = ContainerAttributes(
        userID: try row.text("user_id"), server: try row.text("server"), name: try row.text("name"),
        serverID: try row.text("server_id"),
        connection: ConnectionSettings(
          certificateAuthoritiesPEM: try row.optionalText("authorities"),
          pins: stride(from: 0, to: pins.count, by: Self.pinByteCount).map {
            Array(pins[$0..<($0 + Self.pinByteCount)])
          }), protocolFacts: try row.blob("protocol_facts"), extra: try row.blob("extra"))
      guard seal.isValid(try row.blob("mac"), canonicalBytes) else {
        throw VaultFailure.altered(.container(id))
      }
    } catch { throw .altered(.container(id)) }
  }

  private func values(_ seal: RowSeal) -> [SQLiteValue] {
    [
      .blob(id.bytes), .integer(state.rawValue), .integer(created), .text(attributes.userID),
      .text(attributes.server), .text(attributes.name), .text(attributes.serverID),
      .optional(attributes.connection.certificateAuthoritiesPEM),
      .blob(attributes.connection.pins.flatMap(\.self)), .blob(attributes.protocolFacts),
      .blob(attributes.extra), .blob(seal.code(canonicalBytes)),
    ]
  }

  private var canonicalBytes: CanonicalBytes {
    var row = CanonicalBytes("container")
    row.append(id.bytes)
    row.append(state.rawValue)
    row.append(created)
    for text in [attributes.userID, attributes.server, attributes.name, attributes.serverID] {
      row.append(text)
    }
    row.append(attributes.connection.certificateAuthoritiesPEM == nil ? 0 : 1)
    row.append(attributes.connection.certificateAuthoritiesPEM ?? "")
    row.append(attributes.connection.pins.flatMap(\.self))
    row.append(attributes.protocolFacts)
    row.append(attributes.extra)
    return row
  }
}
