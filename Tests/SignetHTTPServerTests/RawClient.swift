import Foundation
import Glibc

/// A TCP client that sends exact bytes.
///
/// It blocks, so it is used inside ``blocking(_:)``.
final class RawClient: @unchecked Sendable {
  private let descriptor: Int32
  private var unread: [UInt8] = []

  struct Answer: Equatable {
    var status: Int
    var head: String
    var body: [UInt8]
  }

  enum Failure: Error { case call(String, Int32), notAResponse }

  /// Connects to 127.0.0.1, from another loopback address if one is given.
  init(_ port: UInt16, from source: String = "127.0.0.1", receiveBuffer: Int32? = nil) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { throw Failure.call("socket", errno) }
    var timeout = timeval(tv_sec: 300, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    if var receiveBuffer {
      setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
    }
    try call("bind", bind, source, port: 0)
    try call("connect", connect, "127.0.0.1", port: port)
  }

  deinit { Glibc.close(descriptor) }

  private func call(
    _ name: String, _ function: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32, _ address: String,
    port: UInt16
  ) throws {
    var target = sockaddr_in()
    target.sin_family = sa_family_t(AF_INET)
    target.sin_port = port.bigEndian
    inet_pton(AF_INET, address, &target.sin_addr)
    let code = withUnsafePointer(to: target) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        function(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard code == 0 else { throw Failure.call(name, errno) }
  }

  /// Sends all bytes; returns `false` if the server has closed the connection.
  @discardableResult
  func send(_ bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let sent = rest.withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard sent > 0 else { return false }
      rest = rest.dropFirst(sent)
    }
    return true
  }

  @discardableResult
  func send(_ text: String) -> Bool { send(Array(text.utf8)) }

  /// Ends the sending side.
  func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Makes the close at the end a reset.
  func resetOnClose() {
    var linger = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
  }

  /// Returns up to `count` bytes as soon as there are some; none at the end or after a reset.
  func receive(_ count: Int = 65536) -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: count)
    let received = recv(descriptor, &buffer, count, 0)
    return received > 0 ? Array(buffer.prefix(received)) : []
  }

  /// Returns all bytes until the server closes.
  func receiveAll() -> [UInt8] {
    var all = unread
    unread = []
    while true {
      let more = receive()
      if more.isEmpty { return all }
      all += more
    }
  }

  /// Returns whether data, or the end, can be read within this time.
  func isReadable(milliseconds: Int32) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, milliseconds) > 0
  }

  /// Waits for this time without reading.
  func isPaused(milliseconds: Int32) -> Bool { poll(nil, 0, milliseconds) == 0 }

  /// Reads the next response; its body has the length in its head, or none for `HEAD`.
  func answer(hasBody: Bool = true) throws -> Answer {
    let end: [UInt8] = Array("\r\n\r\n".utf8)
    while unread.firstRange(of: end) == nil {
      let more = receive()
      guard !more.isEmpty else { throw Failure.notAResponse }
      unread += more
    }
    guard let range = unread.firstRange(of: end) else { throw Failure.notAResponse }
    let head = String(decoding: unread[..<range.lowerBound], as: UTF8.self)
    unread.removeSubrange(..<range.upperBound)
    guard let status = Int(head.dropFirst(9).prefix(3)) else { throw Failure.notAResponse }
    var length = 0
    for line in head.split(separator: "\r\n") where line.lowercased().hasPrefix("content-length:") {
      length = Int(line.dropFirst(15).drop { $0 == " " }) ?? 0
    }
    guard hasBody, status >= 200 else { return Answer(status: status, head: head, body: []) }
    while unread.count < length {
      let more = receive()
      guard !more.isEmpty else { throw Failure.notAResponse }
      unread += more
    }
    let body = Array(unread.prefix(length))
    unread.removeFirst(length)
    return Answer(status: status, head: head, body: body)
  }

  /// Sends a request and waits for its response.
  func ask(_ text: String, hasBody: Bool = true) throws -> Answer {
    send(text)
    return try answer(hasBody: hasBody)
  }
}

/// Runs blocking calls on a new thread, so that they do not block the handlers.
func blocking<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
  }
}
