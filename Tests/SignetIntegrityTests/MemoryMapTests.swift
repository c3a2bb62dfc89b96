#if os(Linux)
  import SignetTestKit
  import Testing

  import SignetIntegrity

  @Suite struct MemoryMapTests {
    private static let text = """
      55d0c8a00000-55d0c8a02000 r--p 00000000 fe:01 131 /usr/bin/app
      55d0c8a02000-55d0c8a06000 r-xp 00002000 fe:01 131 /usr/bin/app
      7f0000000000-7f0000001000 rwxp 00000000 00:00 0 
      7f1000000000-7f1000001000 r-xp 00000000 00:01 25                         /memfd:x (deleted)
      7f2000000000-7f2000001000 r-xp 00000000 fe:01 9 /opt/a b.so (deleted)
      7ffc7d9e0000-7ffc7d9e2000 r-xp 00000000 00:00 0                          [vdso]
      ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]

      """

    @Test("lines of /proc/self/maps are parsed with files and permissions")
    func lines() throws {
      let map = MemoryMap(parsing: Array(Self.text.utf8))
      #expect(map.mappings.count == 7)
      #expect(map.mappings.map(\.isExecutable) == [false, true, true, true, true, true, true])
      #expect(map.mappings.map(\.isFile) == [true, true, false, false, true, false, false])
      #expect(map.mappings.map(\.isKernels) == [false, false, false, false, false, true, true])
      #expect(map.mappings[3].isMemoryFile && map.mappings[3].isDeleted && map.mappings[3].path == "/memfd:x")
      #expect(map.mappings[4].path == "/opt/a b.so" && map.mappings[1].offset == 0x2000)
      #expect(map.mapping(at: 0x55d0_c8a0_2000)?.isExecutable == true)
      #expect(map.mapping(at: 0x55d0_c8a0_6000) == nil && map.mapping(at: 0) == nil)
      #expect(map.mapping(at: 0xffff_ffff_ff60_0fff)?.name == "[vsyscall]")
    }

    @Test("malformed lines are skipped, and no input stops the program")
    func hostile() {
      for line in [
        "", "-", "1-", "1-2", "2-1 r-xp 0 0:0 0", "g-h r-xp 0 0:0 0", "1-2 r-x 0 0:0 0", "1-2 r-xp x 0:0 0",
        "1-2 r-xp 0 0:0 ", "1-2 r-xp 0 0:0 x", "11111111111111111-2 r-xp 0 0:0 0",
        "1-2 r-xp 0 0:0 99999999999999999999",
      ] {
        #expect(MemoryMap(parsing: Array(line.utf8)).mappings.isEmpty, "\(line)")
      }
      var random = SplitMix64(seed: 7)
      let bytes = Array(Self.text.utf8)
      for _ in 0..<2000 {
        var changed = bytes
        for _ in 0..<8 {
          changed[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
        }
        let map = MemoryMap(parsing: changed)
        _ = map.mapping(at: random.next())
        _ = InstrumentationGuard.evidence(in: map)
      }
    }

    @Test(
      "mappings of toolkits, memory files, anonymous code and probes are evidence; the kernel's are not"
    )
    func mappings() {
      func found(_ line: String) -> [Finding] {
        InstrumentationGuard.evidence(in: MemoryMap(parsing: Array(line.utf8))).map(\.finding)
      }
      #expect(
        InstrumentationGuard.evidence(in: MemoryMap(parsing: Array(Self.text.utf8))).map(\.finding)
          == [.anonymousCode, .memoryFile])
      #expect(found("1000-2000 r--p 0 fe:01 7 /tmp/frida-gadget.so") == [.toolkitMapping])
      #expect(found("1000-2000 r-xp 0 00:01 7 /memfd:frida-agent-64.so (deleted)") == [.toolkitMapping])
      // A data mapping of a memory file is no finding: desktops share buffers in this way.
      #expect(found("1000-2000 rw-p 0 00:01 7 /memfd:buffer (deleted)").isEmpty)
      #expect(found("1000-2000 rw-p 0 00:00 0 ").isEmpty)
      #expect(found("1000-2000 r-xp 0 00:00 0 [heap]") == [.anonymousCode])
      #expect(found("1000-2000 r-xp 0 00:00 0 [uprobes]") == [.probes])
      #expect(found("1000-2000 r-xp 0 fe:01 7 /usr/lib/libz.so.1").isEmpty)
    }

    @Test("toolkit-only thread names are evidence; ambiguous ones are only reported")
    func threads() {
      #expect(InstrumentationGuard.evidence(inThreads: ["app", "worker"]).isEmpty)
      #expect(InstrumentationGuard.evidence(inThreads: ["gum-js-loop"]).map(\.weight) == [1])
      #expect(InstrumentationGuard.evidence(inThreads: ["pool-frida", "pool-frida"]).map(\.weight) == [1])
      #expect(InstrumentationGuard.evidence(inThreads: ["gmain", "gdbus"]).map(\.weight) == [0, 0])
    }

    @Test("the port of Frida's server is evidence only if a program listens on it")
    func ports() {
      func port(_ lines: String...) -> Int? {
        let head = "  sl  local_address rem_address   st tx_queue rx_queue\n"
        return InstrumentationGuard.toolkitPort(in: Array((head + lines.joined()).utf8))
      }
      let other = "   0: 0100007F:1F90 00000000:0000 0A 0 0\n"
      #expect(port("   0: 0100007F:69A2 00000000:0000 0A 0 0\n") == 27_042)
      #expect(port(other, "   1: 00000000000000000000000000000000:69A3 0:0 0A 0 0\n") == 27_043)
      #expect(port("   0: 0100007F:69A2 00000000:0000 01 0 0\n") == nil)
      #expect(port("   0: 0100007F:1F90 00000000:69A2 0A 0 0\n") == nil)
      for text in ["x\n: :\n0: 0 0 0A\n", "", "\n\n\n", " : :69A2"] { #expect(port(text) == nil, "\(text)") }
    }

    @Test("the tracer is read from /proc/self/status in any context")
    func status() {
      #expect(ProcessStatus.tracer(in: "Name:\tx\nTracerPid:\t42\nSeccomp:\t2\n") == 42)
      #expect(ProcessStatus.filterMode(in: "TracerPid:\t42\nSeccomp:\t2\nSeccomp_filters:\t1\n") == 2)
      #expect(ProcessStatus.tracer(in: "TracerPid:\t0\n") == 0)
      for text in ["", "TracerPid:", "TracerPid:\tx", "XTracerPid:\t1", "TracerPid:\t99999999999"] {
        #expect(ProcessStatus.tracer(in: text) == nil, "\(text)")
      }
    }
  }
#endif
