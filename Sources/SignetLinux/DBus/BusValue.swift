/// A value in a message from the bus, of the types that this package reads.
package enum BusValue: Hashable, Sendable {
  /// A string, object path or signature.
  case text(String)
  case flag(Bool)
  /// Any integer; larger ones are clamped to the maximum.
  case number(Int64)
  /// An array, a structure, or an entry of a dictionary (key and value).
  case list([BusValue])
  /// A double or a file descriptor, whose value is not read here.
  case other

  package var text: String? { if case .text(let text) = self { text } else { nil } }
  package var flag: Bool? { if case .flag(let flag) = self { flag } else { nil } }
  package var number: Int64? { if case .number(let number) = self { number } else { nil } }
  /// The elements, if it is a list.
  package var list: [BusValue]? { if case .list(let list) = self { list } else { nil } }

  /// The strings of an array that contains only strings.
  package var texts: [String]? {
    guard let list else { return nil }
    let texts = list.compactMap(\.text)
    return texts.count == list.count ? texts : nil
  }

  /// The value of a dictionary's key; variants are unwrapped.
  package subscript(name: String) -> BusValue? {
    list?.first { $0.list?.count == 2 && $0.list?.first?.text == name }?.list?.last
  }
}

/// A value in a message to the bus, with its D-Bus type.
package enum BusArgument: Hashable, Sendable {
  /// `s`
  case text(String)
  /// `o`
  case path(String)
  /// `b`
  case flag(Bool)
  /// `u`
  case unsigned(UInt32)
  /// `v` with an `s` in it.
  case variant(String)
  /// `as`
  case texts([String])
  /// `i`
  case integer(Int32)
  /// `a{sv}` with an `s` in each `v`.
  case variants([String: String])
}

/// A method with its arguments.
package struct BusCall: Hashable, Sendable {
  package let destination: String
  package let path: String
  package let interface: String
  package let member: String
  package let arguments: [BusArgument]

  /// Creates a call, with the terms of the D-Bus specification.
  package init(
    _ destination: String, _ path: String, _ interface: String, _ member: String, _ arguments: BusArgument...
  ) { self.init(destination, path, interface, member, arguments) }

  package init(
    _ destination: String, _ path: String, _ interface: String, _ member: String, _ arguments: [BusArgument]
  ) {
    self.destination = destination
    self.path = path
    self.interface = interface
    self.member = member
    self.arguments = arguments
  }
}

/// A received signal, or a received method call.
package struct BusEvent: Hashable, Sendable {
  package let sender: String
  package let path: String
  package let interface: String
  package let member: String
  package let body: [BusValue]

  package init(sender: String, path: String, interface: String, member: String, body: [BusValue]) {
    self.sender = sender
    self.path = path
    self.interface = interface
    self.member = member
    self.body = body
  }
}

/// A subscription to signals.
///
/// The bus delivers matching signals, and also any message addressed directly to this connection. So a connection itself
/// drops every signal that matches none of its watches. The sender is a unique name, which no other connection can have.
package struct BusWatch: Hashable, Sendable {
  /// A unique name, or `org.freedesktop.DBus`.
  package let sender: String
  package let path: String?
  package let interface: String
  package let member: String?
  package let argument: String?

  /// Creates a watch from the fields that must be equal; `nil` matches any value.
  package init(
    sender: String, path: String? = nil, interface: String, member: String? = nil, argument: String? = nil
  ) {
    self.sender = sender
    self.path = path
    self.interface = interface
    self.member = member
    self.argument = argument
  }

  /// The match rule in the syntax of the bus.
  var rule: String {
    let parts: [(String, String?)] = [
      ("sender", sender), ("path", path), ("interface", interface), ("member", member), ("arg0", argument),
    ]
    return "type='signal'"
      + parts.map { key, value in
        guard let value else { return "" }
        precondition(!value.contains("'"), "no D-Bus name has an apostrophe")
        return ",\(key)='\(value)'"
      }.joined()
  }

  /// Returns true if a signal matches.
  func admits(_ event: BusEvent) -> Bool {
    event.sender == sender && event.interface == interface && (path == nil || path == event.path)
      && (member == nil || member == event.member)
      && (argument == nil || argument == event.body.first?.text)
  }
}
