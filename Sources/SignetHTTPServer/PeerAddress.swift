internal import CMicroHTTPD
internal import Glibc

/// The address of a client, as the socket reports it.
@safe struct PeerAddress: Sendable {
  private let storage: sockaddr_storage
  private let length: socklen_t
  /// The numeric address; an IPv4 client of an IPv6 socket is written as IPv4.
  let text: String
  /// The key of the per-address limit: the IPv4 address, or the first 64 bits of the IPv6 address.
  let network: Network

  /// The part of an address that one client can be expected to control.
  enum Network: Hashable, Sendable {
    case v4(UInt32)
    case v6(UInt64)
    case other
  }

  init(_ storage: sockaddr_storage, length: socklen_t) {
    self.storage = storage
    self.length = length
    let bytes = Self.addressBytes(storage)
    switch bytes.count {
    case 4:
      text = bytes.map { String($0) }.joined(separator: ".")
      network = .v4(bytes.reduce(0) { $0 << 8 | UInt32($1) })
    case 16:
      text = Self.text(ofV6: storage)
      network = .v6(bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
    default:
      text = "unknown"
      network = .other
    }
  }

  /// Returns four bytes, sixteen bytes, or none for another family; network byte order.
  private static func addressBytes(_ storage: sockaddr_storage) -> [UInt8] {
    unsafe withUnsafeBytes(of: storage) { raw in
      switch Int32(storage.ss_family) {
      case AF_INET:
        let address = unsafe raw.load(as: sockaddr_in.self).sin_addr
        return unsafe withUnsafeBytes(of: address) { unsafe Array($0) }
      case AF_INET6:
        let address = unsafe raw.load(as: sockaddr_in6.self).sin6_addr
        let bytes = unsafe withUnsafeBytes(of: address) { unsafe Array($0) }
        let isMappedV4 = bytes.prefix(12) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
        return isMappedV4 ? Array(bytes.suffix(4)) : bytes
      default: return []
      }
    }
  }

  private static func text(ofV6 storage: sockaddr_storage) -> String {
    var characters = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    let isWritten = unsafe withUnsafeBytes(of: storage) { raw in
      var address = unsafe raw.load(as: sockaddr_in6.self).sin6_addr
      return unsafe inet_ntop(AF_INET6, &address, &characters, socklen_t(characters.count)) != nil
    }
    guard isWritten else { return "unknown" }
    return String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  func withSocketAddress<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
    unsafe withUnsafePointer(to: storage) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, length) }
    }
  }
}
