import CSystemd
import Glibc

/// One message, freed with its single owner.
@safe struct BusMessage: ~Copyable {
  /// The maximum number of values of a body, and bytes of a string: ten times as many as fprintd and logind send.
  private static let valueLimit = 4_096
  private static let textLimit = 65_536
  private static let depthLimit = 16

  private let raw: OpaquePointer

  /// Adopts a reference.
  init(owning raw: OpaquePointer) { unsafe self.raw = raw }

  deinit { unsafe sd_bus_message_unref(raw) }

  func withRaw<R>(_ body: (OpaquePointer) -> R) -> R { unsafe body(raw) }

  enum Kind { case call, reply, failure, signal }

  /// The message type, from the `DBUS_MESSAGE_TYPE_…` numbers of the specification.
  var kind: Kind? {
    var type: UInt8 = 0
    guard unsafe sd_bus_message_get_type(raw, &type) >= 0 else { return nil }
    switch type {
    case 1: return .call
    case 2: return .reply
    case 3: return .failure
    case 4: return .signal
    default: return nil
    }
  }

  /// The cookie of the call that this message answers.
  var replyCookie: UInt64? {
    var cookie: UInt64 = 0
    return unsafe sd_bus_message_get_reply_cookie(raw, &cookie) >= 0 ? cookie : nil
  }

  /// The error in this message, with its text limited to 512 characters.
  var failure: BusFailure {
    guard let error = unsafe sd_bus_message_get_error(raw), let name = unsafe error.pointee.name else {
      return .malformed
    }
    let text = unsafe error.pointee.message.map { unsafe String(cString: $0) } ?? ""
    return .refused(name: unsafe String(cString: name), message: String(text.prefix(512)))
  }

  /// The sender, which the bus has set.
  var sender: String { unsafe Self.text(sd_bus_message_get_sender(raw)) }
  var path: String { unsafe Self.text(sd_bus_message_get_path(raw)) }
  var interface: String { unsafe Self.text(sd_bus_message_get_interface(raw)) }
  var member: String { unsafe Self.text(sd_bus_message_get_member(raw)) }

  /// The body, read from its start.
  ///
  /// - Throws: ``BusFailure/malformed`` beyond the limits.
  func body() throws(BusFailure) -> [BusValue] {
    guard unsafe sd_bus_message_rewind(raw, 1) >= 0 else { throw .malformed }
    var remaining = Self.valueLimit
    return try values(depth: 0, remaining: &remaining)
  }

  /// A copy of the file descriptor that is the first value, with close-on-exec set; the caller must close it.
  ///
  /// - Throws: ``BusFailure/malformed`` if the first value is something else.
  func descriptor() throws(BusFailure) -> Int32 {
    var borrowed: Int32 = -1
    guard unsafe sd_bus_message_rewind(raw, 1) >= 0,
      unsafe sd_bus_message_read_basic(raw, CChar(bitPattern: UInt8(ascii: "h")), &borrowed) > 0
    else { throw .malformed }
    let copy = fcntl(borrowed, F_DUPFD_CLOEXEC, 3)
    guard copy >= 0 else { throw .connectionLost(errno: errno) }
    return copy
  }

  /// Appends a value to a new message.
  ///
  /// - Returns: 0 or more, or a negative errno.
  func append(_ argument: BusArgument) -> Int32 {
    switch argument {
    case .text(let text): return append(text, as: "s")
    case .path(let path): return append(path, as: "o")
    case .flag(let flag):
      var value: Int32 = flag ? 1 : 0
      return unsafe sd_bus_message_append_basic(raw, Self.code("b"), &value)
    case .unsigned(let number):
      var value = number
      return unsafe sd_bus_message_append_basic(raw, Self.code("u"), &value)
    case .variant(let text):
      return append([text], in: "v")
    case .texts(let texts): return append(texts, in: "a")
    case .integer(let number):
      var value = number
      return unsafe sd_bus_message_append_basic(raw, Self.code("i"), &value)
    case .variants(let entries): return append(entries)
    }
  }

  private func append(_ entries: [String: String]) -> Int32 {
    var code = unsafe sd_bus_message_open_container(raw, Self.code("a"), "{sv}")
    for (name, text) in entries where code >= 0 {
      code = unsafe sd_bus_message_open_container(raw, Self.code("e"), "sv")
      if code >= 0 { code = append(name, as: "s") }
      if code >= 0 { code = append([text], in: "v") }
      if code >= 0 { code = unsafe sd_bus_message_close_container(raw) }
    }
    return code < 0 ? code : unsafe sd_bus_message_close_container(raw)
  }

  private func append(_ texts: [String], in container: Unicode.Scalar) -> Int32 {
    var code = unsafe sd_bus_message_open_container(raw, Self.code(container), "s")
    for text in texts where code >= 0 { code = append(text, as: "s") }
    return code < 0 ? code : unsafe sd_bus_message_close_container(raw)
  }

  private func append(_ text: String, as type: Unicode.Scalar) -> Int32 {
    // C would silently truncate a string with a NUL inside.
    guard !text.utf8.contains(0) else { return -EINVAL }
    return unsafe text.withCString { unsafe sd_bus_message_append_basic(raw, Self.code(type), $0) }
  }

  private func values(depth: Int, remaining: inout Int) throws(BusFailure) -> [BusValue] {
    guard depth <= Self.depthLimit else { throw .malformed }
    var values: [BusValue] = []
    while true {
      var type: CChar = 0
      var contents: UnsafePointer<CChar>?
      let code = unsafe sd_bus_message_peek_type(raw, &type, &contents)
      guard code >= 0 else { throw .malformed }
      if code == 0 { return values }
      remaining -= 1
      guard remaining >= 0 else { throw .malformed }
      switch UInt8(bitPattern: type) {
      case UInt8(ascii: "a"), UInt8(ascii: "r"), UInt8(ascii: "e"), UInt8(ascii: "v"):
        guard unsafe sd_bus_message_enter_container(raw, type, contents) > 0 else { throw .malformed }
        let inner = try self.values(depth: depth + 1, remaining: &remaining)
        guard unsafe sd_bus_message_exit_container(raw) >= 0 else { throw .malformed }
        if type == Self.code("v") {
          guard let value = inner.first, inner.count == 1 else { throw .malformed }
          values.append(value)
        } else {
          values.append(.list(inner))
        }
      default: values.append(try basic(type))
      }
    }
  }

  private func basic(_ type: CChar) throws(BusFailure) -> BusValue {
    switch UInt8(bitPattern: type) {
    case UInt8(ascii: "s"), UInt8(ascii: "o"), UInt8(ascii: "g"):
      var text: UnsafePointer<CChar>?
      guard unsafe sd_bus_message_read_basic(raw, type, &text) > 0, let text = unsafe text,
        unsafe strnlen(text, Self.textLimit + 1) <= Self.textLimit
      else { throw .malformed }
      return .text(unsafe String(cString: text))
    case UInt8(ascii: "b"):
      let value: Int32 = try number(type)
      return .flag(value != 0)
    case UInt8(ascii: "y"): return .number(Int64(try number(type) as UInt8))
    case UInt8(ascii: "n"): return .number(Int64(try number(type) as Int16))
    case UInt8(ascii: "q"): return .number(Int64(try number(type) as UInt16))
    case UInt8(ascii: "i"): return .number(Int64(try number(type) as Int32))
    case UInt8(ascii: "u"): return .number(Int64(try number(type) as UInt32))
    case UInt8(ascii: "x"): return .number(try number(type))
    case UInt8(ascii: "t"): return .number(Int64(clamping: try number(type) as UInt64))
    default:
      guard unsafe sd_bus_message_skip(raw, nil) >= 0 else { throw .malformed }
      return .other
    }
  }

  private func number<N: FixedWidthInteger>(_ type: CChar) throws(BusFailure) -> N {
    var value: N = 0
    guard unsafe sd_bus_message_read_basic(raw, type, &value) > 0 else { throw .malformed }
    return value
  }

  private static func text(_ pointer: UnsafePointer<CChar>?) -> String {
    guard let pointer = unsafe pointer else { return "" }
    return unsafe String(cString: pointer)
  }

  private static func code(_ type: Unicode.Scalar) -> CChar { CChar(truncatingIfNeeded: type.value) }
}
