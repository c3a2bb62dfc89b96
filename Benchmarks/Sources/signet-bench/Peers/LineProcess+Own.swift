import Foundation
import SignetTestKit

/// A benchmark cannot go on.
struct BenchmarkFailure: Error, CustomStringConvertible {
  let description: String
}

extension LineProcess {
  /// The path of this program, which is started again for work in a separate process.
  static var ownPath: String {
    get throws {
      guard let path = Bundle.main.executablePath else {
        throw BenchmarkFailure(description: "the path of this program is not known")
      }
      return path
    }
  }

  /// Starts a program with this process's environment and standard error.
  convenience init(_ path: String, _ arguments: [String] = []) throws {
    try self.init(ChildCommand([path] + arguments, errorOutput: .descriptor(STDERR_FILENO)))
  }
}
