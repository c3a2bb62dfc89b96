import Foundation

/// The clocks of the system, in nanoseconds.
enum Clocks {
  /// CPU time of this thread: other processes do not enter it, so it compares work on a machine that is not quiet.
  static var threadCPU: UInt64 { read(CLOCK_THREAD_CPUTIME_ID) }

  /// CPU time of this process, all threads, user and system.
  static var processCPU: UInt64 { read(CLOCK_PROCESS_CPUTIME_ID) }

  /// Time that passes, whoever works.
  static var wall: UInt64 { read(CLOCK_MONOTONIC) }

  private static func read(_ clock: clockid_t) -> UInt64 {
    var time = timespec()
    guard unsafe clock_gettime(clock, &time) == 0 else {
      preconditionFailure("the system has no clock \(clock)")
    }
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}

/// How busy the machine is: the processes that ran or wanted to, averaged over the last minute.
func loadAverage() -> Double {
  var averages = [Double](repeating: 0, count: 3)
  return unsafe getloadavg(&averages, 3) > 0 ? averages[0] : 0
}
