import SignetSQLite

extension StoredContainer {
  private static let columns =
    "id, state, created, user_id, server, name, server_id, authorities, pins, protocol_facts, extra, mac"
  private static let pinByteCount = 32

  /// The identifiers in the table, oldest container first; `nil` for an invalid identifier.
  static func names(in database: Database) throws -> [LocalContainerID?] {
    try database.query("SELECT id FROM container ORDER BY created, number").map { row in
      guard case .blob(let bytes) = row[0] else { return nil }
      return Identifier(bytes).map(LocalContainerID.init)
    }
  }

  static func row(of id: LocalContainerID, in database: Database) throws(SQLiteFailure) -> Row? {
    try database.query("SELECT \(columns) FROM container WHERE id = ?", .blob(id.bytes)).first
  }

  /// Inserts the container.
  ///
  /// - Returns: The row's MAC.
  func insert(into database: Database, _ seal: RowSeal) throws(SQLiteFailure) -> [UInt8] {
    let code = seal.code(canonicalBytes)
    try database.execute(
      "INSERT INTO container (\(Self.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values(code))
    return code
  }

  /// Replaces the row's content.
  ///
  /// - Returns: The row's MAC.
  func update(in database: Database, _ seal: RowSeal) throws(SQLiteFailure) -> [UInt8] {
    let code = seal.code(canonicalBytes)
    try database.execute(
      """
      UPDATE container SET (\(Self.columns)) = (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) WHERE id = ?
      """, values(code) + [.blob(id.bytes)])
    return code
  }

  /// Reads and verifies a row.
  ///
  /// - Throws: ``VaultFailure/altered(_:)``.
  init(_ row: Row, _ seal: RowSeal) throws(VaultFailure) {
    var id: LocalContainerID?
    do {
      id = Identifier(try row.blob("id")).map(LocalContainerID.init)
      guard let id, let state = State(rawValue: try row.integer("state")) else {
        throw VaultFailure.altered(.container(id))
      }
      self.id = id
      self.state = state
      created = try row.integer("created")
      attributes = try Self.attributes(row)
      guard seal.isValid(try row.blob("mac"), canonicalBytes) else {
        throw VaultFailure.altered(.container(id))
      }
    } catch { throw .altered(.container(id)) }
  }

  /// Reads a row without verifying its MAC; returns `nil` if the content is out of bounds.
  static func unauthenticatedAttributes(_ row: Row) -> ContainerAttributes? {
    do {
      let attributes = try attributes(row)
      try attributes.validate()
      return attributes
    } catch { return nil }
  }

  private static func attributes(_ row: Row) throws -> ContainerAttributes {
    let pins = try row.blob("pins")
    guard pins.count % pinByteCount == 0 else { throw VaultFailure.altered(.container(nil)) }
    return ContainerAttributes(
      userID: try row.text("user_id"), server: try row.text("server"), name: try row.text("name"),
      serverID: try row.text("server_id"),
      connection: ServerTrust(
        certificateAuthoritiesPEM: try row.optionalText("authorities"),
        pins: stride(from: 0, to: pins.count, by: pinByteCount).map {
          Array(pins[$0..<($0 + pinByteCount)])
        }), protocolParameters: try row.blob("protocol_facts"), extra: try row.blob("extra"))
  }

  private func values(_ code: [UInt8]) -> [SQLiteValue] {
    [
      .blob(id.bytes), .integer(state.rawValue), .integer(created), .text(attributes.userID),
      .text(attributes.server), .text(attributes.name), .text(attributes.serverID),
      .optional(attributes.connection.certificateAuthoritiesPEM),
      .blob(attributes.connection.pins.flatMap(\.self)), .blob(attributes.protocolParameters),
      .blob(attributes.extra), .blob(code),
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
    row.append(attributes.protocolParameters)
    row.append(attributes.extra)
    return row
  }
}
