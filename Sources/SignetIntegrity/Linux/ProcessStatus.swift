/// What `/proc/PID/status` says (proc(5)).
package enum ProcessStatus {
  /// The process that traces, 0 for none; `nil` where the text does not say.
  package static func tracer(in status: String) -> UInt32? { number("TracerPid", in: status) }

  /// 0 without filters, 2 with them; `nil` where the text does not say.
  package static func filterMode(in status: String) -> UInt32? { number("Seccomp", in: status) }

  private static func number(_ name: String, in status: String) -> UInt32? {
    for line in status.split(separator: "\n") where line.hasPrefix("\(name):") {
      return UInt32(line.dropFirst(name.count + 1).drop(while: \.isWhitespace).prefix(while: \.isNumber))
    }
    return nil
  }
}
