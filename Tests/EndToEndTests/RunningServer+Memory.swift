import Foundation
import Testing

extension RunningServer {
  /// The memory of the process in KiB: `VmRSS`, or its highest value so far, `VmHWM` (proc(5)).
  func memory(_ name: String = "VmRSS") throws -> Int {
    let status = try String(contentsOfFile: "/proc/\(processID)/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("\(name):") })
    return try #require(Int(line.filter(\.isNumber)))
  }
}
