/// The fields of `/proc/PID/status` (proc(5)).
package enum ProcessStatus {
  /// Returns the tracer's process, 0 for none; `nil` if the text does not say.
  package static func tracer(in status: String) -> UInt32? { number("TracerPid", in: status) }

  /// Returns 0 without filters, 2 with them; `nil` if the text does not say.
  package static func filterMode(in status: String) -> UInt32? { number("Seccomp", in: status) }

  private static func number(_ name: String, in status: String) -> UInt32? {
    for line in status.split(separator: "\n") where line.hasPrefix("\(name):") {
      return UInt32(line.dropFirst(name.count + 1).drop(while: \.isWhitespace).prefix(while: \.isNumber))
    }
    return nil
  }
}
