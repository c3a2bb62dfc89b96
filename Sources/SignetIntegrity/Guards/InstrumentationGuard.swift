#if os(Linux)
  /// Looks for code that a toolkit such as Frida runs in this process: mappings, threads, probes of the kernel, and the port of
  /// Frida's server.
  ///
  /// What has a name of its own is easily renamed; code that runs without a file of a disk is what all of them need. A toolkit that
  /// has left is not seen.
  public struct InstrumentationGuard: Guard {
    /// `instrumentation`.
    public let name = "instrumentation"

    /// A guard for this process.
    public init() {}

    private static let threadLimit = 4096

    /// Looks at mappings, threads and ports.
    public func examine() throws -> [Evidence] {
      guard let map = MemoryMap.own() else {
        throw GuardFailure("the map of this process can't be read in /proc")
      }
      return Self.evidence(in: map) + threads() + ports()
    }

    // MARK: Mappings

    /// Parts of file names, in lower case, that only toolkits bear.
    private static let toolkits = [
      "frida", "linjector", "gum-js", "libgadget", "dynamorio", "libpinvm", "pin-tool", "libsubstrate",
      "xposed",
    ]

    static func evidence(in map: MemoryMap) -> [Evidence] {
      var evidence: [Evidence] = []
      var said: Set<String> = []
      for mapping in map.mappings where !mapping.isKernels {
        let path = mapping.path
        if !path.isEmpty, said.contains(path) { continue }
        if let found = judged(mapping) {
          evidence.append(found)
          if !path.isEmpty { said.insert(path) }
        }
      }
      return evidence
    }

    private static func judged(_ mapping: MemoryMap.Mapping) -> Evidence? {
      let file = mapping.path.split(separator: "/").last.map(String.init) ?? ""
      let lowercased = file.lowercased()
      if let toolkit = toolkits.first(where: { lowercased.contains($0) }) {
        return Evidence(.toolkitMapping, "a file called \(file) is mapped, as toolkits like \(toolkit) do")
      }
      guard mapping.isExecutable else { return nil }
      if mapping.name.hasPrefix("[uprobes]") {
        return Evidence(.probes, "the kernel stops this program at probes that somebody has set")
      }
      if mapping.isMemoryFile {
        return Evidence(.memoryFile, "code runs from a file in memory only, \(file)")
      }
      if mapping.fileNumber == 0, !mapping.name.hasPrefix("[v") {
        let rights = mapping.isWritable ? "can be run and changed" : "can be run"
        return Evidence(.anonymousCode, "memory without a file behind it \(rights)")
      }
      return nil
    }

    // MARK: Threads

    private static let toolkitThreads = ["gum-js-loop", "pool-frida", "frida", "linjector"]
    /// GLib's, which Frida brings along, as many desktop programs do.
    private static let commonThreads = ["gmain", "gdbus", "pool-spawner"]

    private func threads() -> [Evidence] {
      let names = (KernelFile.names(in: "/proc/self/task", limit: Self.threadLimit) ?? []).compactMap {
        KernelFile.text("/proc/self/task/\($0)/comm", limit: 64)?.trimmingSuffix { $0.isNewline }
      }
      return Self.evidence(inThreads: names)
    }

    static func evidence(inThreads names: [String]) -> [Evidence] {
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
      // Those that listen come first.
      let tables = ["/proc/net/tcp", "/proc/net/tcp6"].compactMap { KernelFile.text($0, limit: 32_768) }
      guard let port = tables.lazy.compactMap(Self.toolkitPort).first else { return [] }
      return [
        Evidence(.toolkitPort, "a program on this machine listens on port \(port), as Frida's server does")
      ]
    }

    /// The port of Frida's server, where a table of connections has it listening.
    static func toolkitPort(in table: String) -> Int? {
      for line in table.split(separator: "\n").dropFirst() {
        let words = line.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count > 3, words[3] == "0A", let text = words[1].split(separator: ":").last,
          let port = Int(text, radix: 16), [27_042, 27_043].contains(port)
        else { continue }
        return port
      }
      return nil
    }
  }
#endif
