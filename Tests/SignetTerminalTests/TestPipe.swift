import Foundation
import Testing

/// A pipe with its ends, closed with its single owner.
final class TestPipe: Sendable {
  let readEnd: Int32
  private let writeEnd: Int32

  init(_ bytes: [UInt8] = []) throws {
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    (readEnd, writeEnd) = (ends[0], ends[1])
    if !bytes.isEmpty { try #require(write(writeEnd, bytes, bytes.count) == bytes.count) }
  }

  convenience init(ended text: String) throws {
    try self.init(Array(text.utf8))
    closeWriteEnd()
  }

  deinit { close(readEnd) }

  /// Ends the input; called once by the pipe's creator.
  func closeWriteEnd() { close(writeEnd) }

  var writable: Int32 { writeEnd }
}
