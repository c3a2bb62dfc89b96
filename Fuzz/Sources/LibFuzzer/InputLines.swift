/// An input in the form of HTTP: lines, header fields up to an empty line, and the rest.
public struct InputLines {
  /// The unread rest.
  public private(set) var rest: ArraySlice<UInt8>

  /// Begins with all of an input.
  public init(_ input: [UInt8]) { rest = input[...] }

  /// Reads the next line, without its line feed; returns `nil` at the end.
  public mutating func line() -> String? {
    guard !rest.isEmpty else { return nil }
    let end = rest.firstIndex(of: 0x0A) ?? rest.endIndex
    defer { rest = rest[end...].dropFirst() }
    return String(decoding: rest[..<end], as: UTF8.self)
  }

  /// Reads header fields up to an empty line, or the end.
  public mutating func fields() -> [(name: String, value: String)] {
    var fields: [(name: String, value: String)] = []
    while let field = line(), !field.isEmpty {
      let parts = field.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      fields.append((String(parts[0]), parts.count > 1 ? String(parts[1].drop { $0 == " " }) : ""))
    }
    return fields
  }
}
