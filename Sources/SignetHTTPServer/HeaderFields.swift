/// Header fields in the order of the message (RFC 9110 section 5); names are compared without case.
package struct HeaderFields: Sendable, Hashable, ExpressibleByDictionaryLiteral {
  /// One field line.
  package struct Field: Sendable, Hashable {
    /// The field name as it was written.
    package var name: String
    /// The field value, without surrounding white space.
    package var value: String

    /// Creates a field; name and value are validated when a response is sent, not here.
    package init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  private var storage: Storage

  private enum Storage: Sendable {
    case fields([Field])
    /// Received bytes; strings are made on demand.
    case received(ReceivedFields)
  }

  /// All fields in order, repeated names included.
  package private(set) var fields: [Field] {
    get {
      switch storage {
      case .fields(let fields): fields
      case .received(let received): received.fields
      }
    }
    set { storage = .fields(newValue) }
  }

  /// Creates header fields from a list.
  package init(_ fields: [Field] = []) {
    storage = .fields(fields)
  }

  init(_ received: ReceivedFields) { storage = .received(received) }

  /// Creates header fields from a literal such as `["Content-Type": "application/json"]`, in order.
  package init(dictionaryLiteral elements: (String, String)...) {
    storage = .fields(elements.map { Field(name: $0.0, value: $0.1) })
  }

  /// The first value of a field; setting replaces every field of that name, `nil` removes them.
  package subscript(name: String) -> String? {
    get {
      switch storage {
      case .fields(let fields): fields.first { Self.isSame($0.name, name) }?.value
      case .received(let received): received.first(name)
      }
    }
    set {
      fields.removeAll { Self.isSame($0.name, name) }
      if let newValue { fields.append(Field(name: name, value: newValue)) }
    }
  }

  /// Returns every value of a field, in order.
  package func values(for name: String) -> [String] {
    fields.lazy.filter { Self.isSame($0.name, name) }.map(\.value)
  }

  package func count(of name: String) -> Int {
    switch storage {
    case .fields(let fields): fields.count { Self.isSame($0.name, name) }
    case .received(let received): received.count(of: name)
    }
  }

  /// Appends a field and keeps others of the same name.
  package mutating func add(name: String, value: String) {
    fields.append(Field(name: name, value: value))
  }

  /// True if both have the same fields in the same order.
  package static func == (a: HeaderFields, b: HeaderFields) -> Bool { a.fields == b.fields }

  /// Hashes the fields.
  package func hash(into hasher: inout Hasher) { hasher.combine(fields) }

  /// Compares two field names without regard to ASCII case (RFC 9110 section 5.1).
  static func isSame(_ a: String, _ b: String) -> Bool {
    let (a, b) = (a.utf8, b.utf8)
    return a.count == b.count && zip(a, b).allSatisfy { lowercased($0) == lowercased($1) }
  }

  static func lowercased(_ byte: UInt8) -> UInt8 {
    (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
  }
}

extension HeaderFields.Field {
  /// True if the name is a token and the value has no control byte, so that it cannot end its line early.
  ///
  /// RFC 9110 section 5.5 with section 5.6.2; a horizontal tab is allowed inside a value.
  var isValid: Bool {
    Token.isValid(name.utf8) && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
  }
}

/// The `token` rule of RFC 9110 section 5.6.2: methods and field names.
enum Token {
  static func isValid(_ bytes: some Collection<UInt8>) -> Bool {
    !bytes.isEmpty && bytes.allSatisfy(isTokenByte)
  }

  static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E, 0x5F, 0x60, 0x7C, 0x7E: true
    default: false
    }
  }
}
