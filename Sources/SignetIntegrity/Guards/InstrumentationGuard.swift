#if os(Linux)
  import CLinuxProcess
  import Glibc

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
    ].map { Array($0.utf8) }

    /// Whether a name holds a word, whatever the case of its letters.
    private static func holds(_ word: [UInt8], in name: ArraySlice<UInt8>) -> Bool {
      guard name.count >= word.count else { return false }
      for start in name.startIndex...(name.endIndex - word.count) {
        var index = 0
        while index < word.count {
          let byte = name[start + index]
          let isCapital = (65...90).contains(byte)
          if (isCapital ? byte | 0x20 : byte) != word[index] { break }
          index += 1
        }
        if index == word.count { return true }
      }
      return false
    }

    package static func evidence(in map: MemoryMap) -> [Evidence] {
      var evidence: [Evidence] = []
      var judgedNames: Set<String> = []
      for mapping in map.mappings where mapping.isExecutable || !mapping.name.isEmpty {
        // Of a file each part tells the same, but for whether it is run.
        if !mapping.name.isEmpty,
          !judgedNames.insert(mapping.isExecutable ? mapping.name + " x" : mapping.name).inserted
        {
          continue
        }
        if let found = judged(mapping), !evidence.contains(where: { $0.explanation == found.explanation }) {
          evidence.append(found)
        }
      }
      return evidence
    }

    private static func judged(_ mapping: MemoryMap.Mapping) -> Evidence? {
      if mapping.isKernels { return nil }
      // Most memory has no name, and most names are of files; a search for words in each costs more than all the rest.
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
        return Evidence(.probes, "the kernel stops this program at probes that somebody has set")
      }
      if mapping.isMemoryFile {
        let file = String(decoding: fileName, as: UTF8.self)
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

    /// The port of Frida's server, where a program listens on it: as the kernel says, or where it does not answer, as its tables do.
    static func toolkitPort() -> Int? {
      for (family, path) in [(AF_INET, "/proc/net/tcp"), (AF_INET6, "/proc/net/tcp6")] {
        let answer = signet_listening_port(family, toolkitPorts[0], toolkitPorts[1])
        if answer > 0 { return Int(answer) }
        if answer < 0, let table = KernelFile.contents(path, limit: 16_384),
          let port = toolkitPort(in: table)
        {
          return port
        }
      }
      return nil
    }

    /// The port of Frida's server, where a table of connections has it listening.
    ///
    /// Those that listen come first, and end at the first line that is another's. A line has its number, the address and port that
    /// it is at, those of the other side, and the state, in hexadecimal: 0A listens.
    package static func toolkitPort(in table: [UInt8]) -> Int? {
      for line in table.split(separator: 10).dropFirst() {
        let words = line.split(separator: 32, maxSplits: 5)
        guard words.count > 3, words[3].elementsEqual("0A".utf8) else { return nil }
        for port in toolkitPorts {
          if words[1].suffix(5).elementsEqual(":\(String(port, radix: 16, uppercase: true))".utf8) {
            return Int(port)
          }
        }
      }
      return nil
    }
  }
#endif
