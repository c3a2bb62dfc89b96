import Foundation

/// The clocks of the system, in nanoseconds.
enum Clocks {
  /// The CPU time of this thread, which is independent of other processes, so that it compares work on a busy machine.
  static var threadCPU: UInt64 { read(CLOCK_THREAD_CPUTIME_ID) }

  /// The CPU time of this process, all threads, user and system.
  static var processCPU: UInt64 { read(CLOCK_PROCESS_CPUTIME_ID) }

  /// The elapsed time.
  static var wall: UInt64 { read(CLOCK_MONOTONIC) }

  private static func read(_ clock: clockid_t) -> UInt64 {
    var time = timespec()
    guard unsafe clock_gettime(clock, &time) == 0 else {
      preconditionFailure("the system has no clock \(clock)")
    }
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}

/// Returns the number of running or ready processes, averaged over the last minute.
func loadAverage() -> Double {
  var averages = [Double](repeating: 0, count: 3)
  return unsafe getloadavg(&averages, 3) > 0 ? averages[0] : 0
}
