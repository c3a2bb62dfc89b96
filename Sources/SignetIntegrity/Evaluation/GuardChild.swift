#if os(Linux)
  import CLinuxProcess
  import Glibc
  import SignetJSON

  /// Runs a guard in a child process.
  ///
  /// The child is a fork of this process with one thread. A lock that another thread held at the fork stays locked for ever
  /// in the child, and a guard that waits for it hangs. A guard that exceeds its limit is therefore retried; only the fourth
  /// time-out counts. All children have ended when the call returns.
  enum GuardChild {
    private static let reportByteLimit = 65_536

    enum Outcome {
      case finished([Evidence])
      case failed(String)
      case ended(status: Int32)
      case timedOut
    }

    /// The number of attempts for a guard that exceeds its limit.
    static let tries = 4

    /// Runs the guard; blocks for at most ``tries`` times the limit.
    static func run(_ child: any Guard, limit: Duration) -> [Evidence] {
      var outcome = attempt(child, limit: limit)
      for _ in 1..<tries {
        guard case .timedOut = outcome else { break }
        outcome = attempt(child, limit: limit)
      }
      switch outcome {
      case .finished(let evidence): return evidence
      case .failed(let reason):
        return [Evidence(.failedGuard, "the guard \(child.name) could not run: \(reason)")]
      case .ended(let status):
        return [Evidence(.crashedGuard, "the guard \(child.name) \(Self.text(status))")]
      case .timedOut: return [Evidence(.slowGuard, "the guard \(child.name) took longer than \(limit)")]
      }
    }

    private static func attempt(_ child: any Guard, limit: Duration) -> Outcome {
      var ends: [Int32] = [-1, -1]
      let hasPipe = unsafe ends.withUnsafeMutableBufferPointer { unsafe signet_pipe($0.baseAddress) }
      guard hasPipe == 0 else { return .failed("the system has no pipe left") }
      let process = signet_guard_child(ends[1])
      if process == 0 { report(child, to: ends[1]) }
      close(ends[1])
      defer { close(ends[0]) }
      guard process > 0 else { return .failed("the system cannot start a process") }
      let (bytes, isComplete) = read(from: ends[0], until: .now + limit)
      // The child closes the pipe when it ends.
      if !isComplete { kill(process, SIGKILL) }
      var status: Int32 = 0
      var waited: pid_t
      repeat { waited = unsafe waitpid(process, &status, 0) } while waited < 0 && errno == EINTR
      guard isComplete else { return .timedOut }
      // If the app ignores SIGCHLD, the status of the child is unknown.
      if waited == process, status != 0 { return .ended(status: status) }
      return Outcome(parsing: bytes) ?? .ended(status: status)
    }

    /// The child's part: examines, answers and exits without running the exit handlers of this process.
    private static func report(_ child: any Guard, to descriptor: Int32) -> Never {
      ProcessHardening.forbidCrashReports()
      ProcessHardening.forbidCoreDumps()
      let object: JSONObject
      do {
        object = ["evidence": .array(try child.examine().prefix(100).map { .object($0.json) })]
      } catch { object = ["failure": .string(String(String(describing: error).prefix(1000)))] }
      let bytes = object.bytes
      var offset = 0
      while offset < bytes.count {
        let written = unsafe bytes.withUnsafeBytes { buffer in
          unsafe write(descriptor, buffer.baseAddress?.advanced(by: offset), bytes.count - offset)
        }
        guard written > 0 else { break }
        offset += written
      }
      signet_kernel_exit(0)
    }

    /// Reads until the end of the pipe; `isComplete` is false if the deadline passes first.
    private static func read(
      from descriptor: Int32, until deadline: ContinuousClock.Instant
    ) -> ([UInt8], isComplete: Bool) {
      var bytes: [UInt8] = []
      var part = [UInt8](repeating: 0, count: 4096)
      while true {
        let remaining = deadline - .now
        guard remaining > .zero else { return (bytes, false) }
        let milliseconds =
          remaining.components.seconds * 1000 + remaining.components.attoseconds / 1_000_000_000_000_000
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let ready = unsafe poll(&request, 1, Int32(clamping: milliseconds + 1))
        if ready < 0, errno != EINTR { return (bytes, false) }
        guard ready > 0 else { continue }
        let count = unsafe part.withUnsafeMutableBytes {
          unsafe Glibc.read(descriptor, $0.baseAddress, $0.count)
        }
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return (bytes, count == 0) }
        bytes += part[..<count]
        guard bytes.count <= reportByteLimit else { return (bytes, false) }
      }
    }

    private static func text(_ status: Int32) -> String {
      let signal = status & 0x7f
      if signal != 0 { return "was ended by signal \(signal)" }
      return "ended by itself with status \(status >> 8 & 0xff), without an answer"
    }
  }

  extension GuardChild.Outcome {
    /// Parses a child's answer; `nil` if it is invalid.
    ///
    /// The child may be tampered with like this program, so the size of its answer is limited.
    init?(parsing bytes: [UInt8]) {
      do throws(JSONFailure) {
        let object = try JSONObject(parsing: bytes)
        if let reason = try object.optionalString("failure") {
          self = .failed(reason)
        } else {
          var evidence: [Evidence] = []
          for value in try object.array("evidence") {
            guard case .object(let object) = value, let piece = try Evidence(object) else { return nil }
            evidence.append(piece)
          }
          self = .finished(evidence)
        }
      } catch { return nil }
    }
  }

  extension Evidence {
    /// Parses the form of ``json``; `nil` for an unknown category.
    fileprivate init?(_ object: JSONObject) throws(JSONFailure) {
      guard let category = EvidenceCategory(rawValue: try object.string("category")) else { return nil }
      let finding = Finding(try object.string("finding"), category, weight: try object.number("weight"))
      self.init(finding, try object.string("explanation"))
    }
  }
#endif
