import CPostgreSQL

/// Values in PostgreSQL's binary format, of the types that the server expects.
struct PostgreSQLParameters {
  /// All values, concatenated.
  private var bytes: [UInt8] = []
  /// The offset of each; `nil` for `NULL`.
  private var starts: [Int?] = []
  private var lengths: [Int32] = []

  init(_ values: [SQLValue], _ types: [Oid]) throws(SQLFailure) {
    starts.reserveCapacity(values.count)
    lengths.reserveCapacity(values.count)
    for (index, value) in values.enumerated() {
      let start = bytes.count
      guard try add(value, PostgreSQLType(rawValue: types[index]), parameter: index + 1) else {
        starts.append(nil)
        lengths.append(0)
        continue
      }
      starts.append(start)
      lengths.append(Int32(bytes.count - start))
    }
  }

  /// - Returns: `false` for `NULL`.
  private mutating func add(
    _ value: SQLValue, _ type: PostgreSQLType?, parameter: Int
  ) throws(SQLFailure) -> Bool {
    switch (value, type) {
    case (.null, _): return false
    case (.integer(let value), .int8): append(value)
    case (.integer(let value), .int4):
      guard let value = Int32(exactly: value) else {
        throw .unsuitableValue(parameter: parameter, reason: "is too large for its column")
      }
      append(value)
    case (.real(let value), .float8):
      guard !value.isNaN else {
        throw .unsuitableValue(parameter: parameter, reason: "is not a number (NaN)")
      }
      append(Int64(bitPattern: value.bitPattern))
    case (.text(let value), .text), (.text(let value), .varchar), (.text(let value), .name):
      guard !value.utf8.contains(0) else {
        throw .unsuitableValue(parameter: parameter, reason: "is text with a NUL")
      }
      bytes.append(contentsOf: value.utf8)
    case (.blob(let value), .bytea): bytes.append(contentsOf: value)
    // The same case as for SQLite's strict tables.
    default: throw .constraint(.dataType, name: "")
    }
    return true
  }

  private mutating func append(_ value: some FixedWidthInteger) {
    unsafe withUnsafeBytes(of: value.bigEndian) { unsafe bytes.append(contentsOf: $0) }
  }

  /// Passes the values in libpq's format.
  func withPointers<Result>(
    _ body: (UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?) -> Result
  ) -> Result {
    // One more byte, because an empty array has no address, and a parameter without an address is NULL.
    let formats = [Int32](repeating: 1, count: lengths.count)
    return unsafe (bytes + [0]).withUnsafeBytes { bytes in
      let pointers = unsafe starts.map { start -> UnsafePointer<CChar>? in
        guard let start, let base = bytes.baseAddress else { return nil }
        return unsafe (base + start).assumingMemoryBound(to: CChar.self)
      }
      return unsafe pointers.withUnsafeBufferPointer { pointers in
        unsafe lengths.withUnsafeBufferPointer { lengths in
          unsafe formats.withUnsafeBufferPointer { formats in
            unsafe body(pointers.baseAddress, lengths.baseAddress, formats.baseAddress)
          }
        }
      }
    }
  }
}

/// The supported column types, by their numbers in `pg_type.dat` of PostgreSQL.
enum PostgreSQLType: Oid {
  case bool = 16
  case bytea = 17
  case name = 19
  case int8 = 20
  case int4 = 23
  case text = 25
  case float8 = 701
  case varchar = 1_043
}
