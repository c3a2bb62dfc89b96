#if os(Linux)
  import CLinuxProcess
  import Glibc

  /// A guard for code of a toolkit, such as Frida, in this process: mappings, threads, kernel probes, and Frida's port.
  ///
  /// Names are easy to change; all toolkits need code that runs without a file on disk. A toolkit that was unloaded is not
  /// detected.
  public struct InstrumentationGuard: Guard {
    /// The value `instrumentation`.
    public let name = "instrumentation"

    /// Creates a guard of this process.
    public init() {}

    private static let threadLimit = 4096

    /// Checks mappings, threads and ports.
    public func examine() throws -> [Evidence] {
      guard let map = MemoryMap.current() else {
        throw GuardFailure("the map of this process can't be read in /proc")
      }
      return Self.evidence(in: map) + threads() + ports()
    }

    // MARK: Mappings

    /// Parts of file names, in lower case, that only toolkits use.
    private static let toolkits = [
      "frida", "linjector", "gum-js", "libgadget", "dynamorio", "libpinvm", "pin-tool", "libsubstrate",
      "xposed",
    ].map { Array($0.utf8) }

    /// True if a name contains a pattern; case is ignored.
    private static func holds(_ pattern: [UInt8], in name: ArraySlice<UInt8>) -> Bool {
      guard name.count >= pattern.count else { return false }
      for start in name.startIndex...(name.endIndex - pattern.count) {
        var index = 0
        while index < pattern.count {
          let byte = name[start + index]
          let isCapital = (65...90).contains(byte)
          if (isCapital ? byte | 0x20 : byte) != pattern[index] { break }
          index += 1
        }
        if index == pattern.count { return true }
      }
      return false
    }

    package static func evidence(in map: MemoryMap) -> [Evidence] {
      var evidence: [Evidence] = []
      var checkedNames: Set<String> = []
      for mapping in map.mappings where mapping.isExecutable || !mapping.name.isEmpty {
        // All mappings of a file give the same result, except for being executable.
        if !mapping.name.isEmpty,
          !checkedNames.insert(mapping.isExecutable ? mapping.name + " x" : mapping.name).inserted
        {
          continue
        }
        if let found = check(mapping), !evidence.contains(where: { $0.explanation == found.explanation }) {
          evidence.append(found)
        }
      }
      return evidence
    }

    private static func check(_ mapping: MemoryMap.Mapping) -> Evidence? {
      if mapping.isKernels { return nil }
      // Most memory has no name. Only file names are searched: a search in every path would cost more than all other checks.
      let name = Array(mapping.path.utf8)
      let fileName = name[(name.lastIndex(of: 47).map { $0 + 1 } ?? 0)...]
      if let toolkit = toolkits.first(where: { holds($0, in: fileName) }) {
        let file = String(decoding: fileName, as: UTF8.self)
        return Evidence(
          .toolkitMapping,
          "a file called \(file) is mapped, as toolkits like \(String(decoding: toolkit, as: UTF8.self)) do")
      }
      guard mapping.isExecutable else { return nil }
      if mapping.name.hasPrefix("[uprobes]") {
        return Evidence(.probes, "kernel probes (uprobes) are set in this program")
      }
      if mapping.isMemoryFile {
        let file = String(decoding: fileName, as: UTF8.self)
        return Evidence(.memoryFile, "code runs from a file in memory only, \(file)")
      }
      if mapping.fileNumber == 0, !mapping.name.hasPrefix("[v") {
        let permissions = mapping.isWritable ? "can be run and changed" : "can be run"
        return Evidence(.anonymousCode, "memory without a file behind it \(permissions)")
      }
      return nil
    }

    // MARK: Threads

    private static let toolkitThreads = ["gum-js-loop", "pool-frida", "frida", "linjector"]
    /// Thread names of GLib, which Frida and many desktop programs include.
    private static let commonThreads = ["gmain", "gdbus", "pool-spawner"]

    private func threads() -> [Evidence] {
      let names = (KernelFile.names(in: "/proc/self/task", limit: Self.threadLimit) ?? []).compactMap {
        KernelFile.text("/proc/self/task/\($0)/comm", limit: 64)?.trimmingSuffix { $0.isNewline }
      }
      return Self.evidence(inThreads: names)
    }

    package static func evidence(inThreads names: [String]) -> [Evidence] {
      Set(names).sorted().compactMap { name in
        if Self.toolkitThreads.contains(where: { name.hasPrefix($0) }) {
          return Evidence(.toolkitThread, "a thread is called \(name), as Frida's are")
        }
        if Self.commonThreads.contains(name) {
          return Evidence(
            .commonThread, "a thread is called \(name), as GLib's are, which Frida brings along")
        }
        return nil
      }
    }

    // MARK: Ports

    private func ports() -> [Evidence] {
      guard let port = Self.toolkitPort() else { return [] }
      return [
        Evidence(.toolkitPort, "a program on this machine listens on port \(port), as Frida's server does")
      ]
    }

    private static let toolkitPorts: [UInt16] = [27_042, 27_043]

    /// Returns the port if a program listens on a port of Frida's server.
    ///
    /// It asks the kernel; if that fails, it reads the tables in `/proc/net`.
    static func toolkitPort() -> Int? {
      for (family, path) in [(AF_INET, "/proc/net/tcp"), (AF_INET6, "/proc/net/tcp6")] {
        let answers = toolkitPorts.map { ListeningPort.isOpen($0, family) }
        if let index = answers.firstIndex(of: true) { return Int(toolkitPorts[index]) }
        if answers.contains(nil), let table = KernelFile.contents(path, limit: 16_384),
          let port = toolkitPort(in: table)
        {
          return port
        }
      }
      return nil
    }

    /// Returns the port if a connection table shows a listener on a port of Frida's server.
    ///
    /// Listeners come first, and the first line in another state ends them. A line has a number, the local address and port,
    /// the remote ones, and the state, in hexadecimal: 0A is a listener.
    package static func toolkitPort(in table: [UInt8]) -> Int? {
      for line in table.split(separator: 10).dropFirst() {
        let fields = line.split(separator: 32, maxSplits: 5)
        guard fields.count > 3, fields[3].elementsEqual("0A".utf8) else { return nil }
        for port in toolkitPorts {
          if fields[1].suffix(5).elementsEqual(":\(String(port, radix: 16, uppercase: true))".utf8) {
            return Int(port)
          }
        }
      }
      return nil
    }
  }
#endif
