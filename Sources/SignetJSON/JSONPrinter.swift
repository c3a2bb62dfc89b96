/// The format of printed JSON; every format is deterministic.
public struct JSONFormat: Sendable, Hashable {
  /// True if members are sorted by the code points of their names, instead of keeping their order.
  public let sortsMembers: Bool
  /// True if each member and element is on its own line, indented by two spaces.
  public let usesLines: Bool

  /// No white space, members in their order.
  public static let compact = JSONFormat(sortsMembers: false, usesLines: false)
  /// No white space, members sorted: the form that RFC 7638 section 3 hashes.
  public static let sorted = JSONFormat(sortsMembers: true, usesLines: false)
  /// One member per line in their order, for people.
  public static let pretty = JSONFormat(sortsMembers: false, usesLines: true)
  /// One member per line, sorted, for people and for comparisons.
  public static let prettySorted = JSONFormat(sortsMembers: true, usesLines: true)
}

extension JSONValue {
  /// The compact JSON text, UTF-8, members in their order.
  public var bytes: [UInt8] { bytes(.compact) }

  /// The compact JSON text, members in their order.
  public var text: String { text(.compact) }

  /// The JSON text, UTF-8.
  ///
  /// Control characters, quotes and backslashes are escaped, nothing else. Numbers must be finite.
  public func bytes(_ format: JSONFormat) -> [UInt8] {
    var printer = JSONPrinter(format: format)
    printer.write(self, indentation: 0)
    return printer.output
  }

  /// The JSON text in a format.
  public func text(_ format: JSONFormat) -> String { String(decoding: bytes(format), as: UTF8.self) }
}

extension JSONObject {
  /// The compact JSON text, UTF-8, members in their order.
  public var bytes: [UInt8] { JSONValue.object(self).bytes }

  /// The compact JSON text, members in their order.
  public var text: String { JSONValue.object(self).text }

  /// The JSON text, UTF-8; see ``JSONValue/bytes(_:)``.
  public func bytes(_ format: JSONFormat) -> [UInt8] { JSONValue.object(self).bytes(format) }

  /// The JSON text in a format.
  public func text(_ format: JSONFormat) -> String { JSONValue.object(self).text(format) }
}

struct JSONPrinter {
  let format: JSONFormat
  var output: [UInt8] = []

  mutating func write(_ value: JSONValue, indentation: Int) {
    switch value {
    case .null: output.append(contentsOf: "null".utf8)
    case .bool(let truth): output.append(contentsOf: (truth ? "true" : "false").utf8)
    case .integer(let whole): output.append(contentsOf: String(whole).utf8)
    case .number(let number):
      precondition(number.isFinite, "JSON has no way to write infinity or NaN")
      output.append(contentsOf: number.description.utf8)
    case .string(let text): write(text)
    case .array(let elements):
      writeList("[", "]", elements, indentation) { printer, element, inner in
        printer.write(element, indentation: inner)
      }
    case .object(let object):
      let members = format.sortsMembers ? object.sortedMembers : object.members
      writeList("{", "}", members, indentation) { printer, member, inner in
        printer.write(member.name)
        printer.output.append(UInt8(ascii: ":"))
        if printer.format.usesLines { printer.output.append(0x20) }
        printer.write(member.value, indentation: inner)
      }
    }
  }

  private mutating func writeList<Item>(
    _ opening: Unicode.Scalar, _ closing: Unicode.Scalar, _ items: [Item], _ indentation: Int,
    _ writeItem: (inout JSONPrinter, Item, Int) -> Void
  ) {
    output.append(UInt8(ascii: opening))
    for (index, item) in items.enumerated() {
      if index > 0 { output.append(UInt8(ascii: ",")) }
      startLine(indentation + 1)
      writeItem(&self, item, indentation + 1)
    }
    if !items.isEmpty { startLine(indentation) }
    output.append(UInt8(ascii: closing))
  }

  private mutating func startLine(_ indentation: Int) {
    guard format.usesLines else { return }
    output.append(0x0A)
    output.append(contentsOf: repeatElement(0x20, count: 2 * indentation))
  }

  private mutating func write(_ text: String) {
    output.append(UInt8(ascii: "\""))
    defer { output.append(UInt8(ascii: "\"")) }
    guard text.utf8.contains(where: { $0 < 0x20 || $0 == 0x22 || $0 == 0x5C }) else {
      output.append(contentsOf: text.utf8)
      return
    }
    for byte in text.utf8 {
      switch byte {
      case 0x22: output.append(contentsOf: [0x5C, 0x22])
      case 0x5C: output.append(contentsOf: [0x5C, 0x5C])
      case 0x08: output.append(contentsOf: "\\b".utf8)
      case 0x09: output.append(contentsOf: "\\t".utf8)
      case 0x0A: output.append(contentsOf: "\\n".utf8)
      case 0x0C: output.append(contentsOf: "\\f".utf8)
      case 0x0D: output.append(contentsOf: "\\r".utf8)
      case 0..<0x20:
        output.append(contentsOf: "\\u00".utf8)
        output.append(0x30 + byte >> 4)
        output.append(byte & 15 < 10 ? 0x30 + byte & 15 : 0x57 + byte & 15)
      default: output.append(byte)
      }
    }
  }
}
