#if os(Linux)
  import CLinuxProcess
  import Foundation
  import SignetCrypto
  import SignetTestKit
  import Testing

  import SignetIntegrity

  @Suite(.timeLimit(.minutes(10))) struct GuardTests {
    @Test("libraries are judged by their requester and origin")
    func libraries() throws {
      let program = LibraryProperties(
        path: "/opt/app/bin/app", needed: ["liba.so.1", "libc.so.6"],
        searchFolders: ["$ORIGIN/../lib", "/opt/swift/lib"])
      let own = LibraryProperties(path: "/opt/app/lib/liba.so.1", soname: "liba.so.1", needed: ["libb.so.2"])
      let nested = LibraryProperties(path: "/opt/swift/lib/libb.so.2", soname: "libb.so.2")
      let system = LibraryProperties(path: "/usr/lib/x86_64-linux-gnu/libc.so.6", soname: "libc.so.6")
      let loader = LibraryProperties(
        path: "/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2", soname: "ld-linux-x86-64.so.2")
      let plugin = LibraryProperties(path: "/usr/lib/x86_64-linux-gnu/security/pam_unix.so")
      let clean = [program, own, nested, system, loader, plugin]
      func found(_ objects: [LibraryProperties]) -> [Finding] {
        LibraryGuard.check(objects, program: program.path) { _ in nil }.map(\.finding)
      }
      #expect(found(clean).isEmpty)
      #expect(found(clean + [LibraryProperties(path: "/tmp/hook.so")]) == [.unexpectedLibrary])
      // It has a required library's name, but is outside of the standard folders.
      let falseCrypto = LibraryProperties(path: "/tmp/libc.so.6", soname: "libc.so.6")
      #expect(found([program, own, nested, falseCrypto, loader]) == [.misplacedLibrary])
      #expect(
        found([program, LibraryProperties(path: "/home/me/liba.so.1", soname: "liba.so.1"), system]) == [
          .misplacedLibrary
        ])
      // Another program than the known one: no statement is possible.
      #expect(found([own]).isEmpty)
    }

    @Test("variables that load code weigh more than those that mislead; others are ignored")
    func environment() {
      let sentry = EnvironmentGuard(variables: {
        [
          "LD_PRELOAD": "/tmp/x.so", "OPENSSL_CONF": "/tmp/c", "PATH": "/bin", "HOME": "/root",
          "LD_AUDIT": "",
        ]
      })
      let found = sentry.examine()
      #expect(found.map(\.finding) == [.loadingVariable, .unsafeVariable])
      #expect(found[0].explanation == "LD_PRELOAD loads code into this program: /tmp/x.so")
      #expect(found[0].weight > found[1].weight)
    }

    @Test(
      "the guard reads the current environment variables",
      .enabled(if: getenv("LD_DEBUG_OUTPUT") == nil))
    func presentVariables() async throws {
      struct Setting: Guard {
        let name = "setting"
        // A child has one thread and its own environment, so this write has no other reader.
        var placement: GuardPlacement { .child(limit: .seconds(60)) }
        func examine() -> [Evidence] {
          func isSeen() -> Bool {
            EnvironmentGuard().examine().contains { $0.explanation.contains("LD_DEBUG_OUTPUT") }
          }
          setenv("LD_DEBUG_OUTPUT", "/tmp/x", 1)
          let isSeenThen = isSeen()
          unsetenv("LD_DEBUG_OUTPUT")
          return [Evidence(.failedGuard, "\(isSeenThen), then \(isSeen())")]
        }
      }
      let report = try await Integrity(
        guards: [Setting()], settings: .init(reaction: .report), clock: VirtualTimer()
      ).evaluate()
      #expect(report.evidence.map(\.explanation) == ["true, then false"])
    }

    @Test(
      "an account without a password and KDE's setting mean no screen lock; an unknown state is no evidence"
    )
    func screenLock() throws {
      let folder = try TemporaryFolder()
      func write(_ text: String, _ path: String) throws {
        let url = URL(filePath: folder.file(path))
        try FileManager.default.createDirectory(
          at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
      }
      var lock = DesktopLock(home: "\(folder.path)/", user: 1000)
      #expect(lock.state == .unknown)
      try write("root:x:0:0::/root:/bin/sh\nme:x:1000:1000::/home/me:/bin/sh\n", "etc/passwd")
      #expect(lock.state == .unknown)
      try write("[Daemon]\nAutolock=false\n", "home/me/.config/kscreenlockerrc")
      #expect(lock.state == .missing("the desktop is set not to lock its screen"))
      try write("[Daemon]\nTimeout=5\n", "home/me/.config/kscreenlockerrc")
      #expect(lock.state == .set)
      try write("open::1000:1000::/home/me:/bin/sh\n", "etc/passwd")
      guard case .missing(let reason) = lock.state else {
        Issue.record("\(lock.state)")
        return
      }
      #expect(reason.contains("open has no password"))
      lock.user = 7
      #expect(lock.state == .unknown)
      #expect(ScreenLockGuard { .missing("none") }.examine().map(\.finding) == [.noScreenLock])
      #expect(ScreenLockGuard { .unknown }.examine().isEmpty && ScreenLockGuard { .set }.examine().isEmpty)
    }

    @Test("writers of system files are determined by owner, group and mode")
    func fileStatus() throws {
      let folder = try TemporaryFolder(mode: 0o755)
      let status = try #require(FileStatus(folder.path))
      #expect(status.isSystems(overflow: 65_534) == (geteuid() == 0))
      #expect(chmod(folder.path, 0o777) == 0)
      #expect(try #require(FileStatus(folder.path)).isOpenToAll)
      #expect(chmod(folder.path, 0o1777) == 0)
      #expect(try !#require(FileStatus(folder.path)).isOpenToAll)
      #expect(FileStatus(folder.file("none")) == nil)
    }

    @Test("a hook in a function's code is found until it is removed")
    func changedFunction() async {
      // In a separate process: no other code may see or call the hook.
      await #expect(processExitsWith: .success) {
        let hooks = HookGuard([.init(library: "libargon2.so", functions: ["argon2_error_message"])])
        #expect(try hooks.examine().isEmpty)
        let library = try #require(
          LoadedObjects.own()?.objects.first { $0.fileName.hasPrefix("libargon2.so") })
        let address = try #require(library.image.address(of: "argon2_error_message", in: ProcessMemory()))
        let page = UnsafeMutableRawPointer(bitPattern: UInt(address & ~4095))
        #expect(mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC) == 0)
        let byte = try #require(UnsafeMutablePointer<UInt8>(bitPattern: UInt(address)))
        let original = byte.pointee
        byte.pointee = original ^ 0xff
        let found = try hooks.examine()
        byte.pointee = original
        #expect(mprotect(page, 8192, PROT_READ | PROT_EXEC) == 0)
        #expect(found.map(\.finding) == [.changedFunction])
        #expect(found.first?.explanation.contains("argon2_error_message") == true)
        #expect(try hooks.examine().isEmpty)
      }
    }

    /// Files below a folder that replaces `/`.
    private func machine(_ files: [String: String]) throws -> TemporaryFolder {
      let root = try TemporaryFolder(mode: 0o755)
      for (path, text) in files {
        let url = URL(filePath: root.path + path)
        try FileManager.default.createDirectory(
          at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
      }
      return root
    }

    @Test(
      "a physical machine without containers gives no evidence")
    func realMachine() throws {
      let root = try machine([
        "/proc/cpuinfo": "vendor_id : GenuineIntel\nmodel name : 12th Gen Intel(R) Core(TM) i7\n",
        "/sys/class/dmi/id/product_name": "ThinkPad X1\n", "/sys/class/dmi/id/sys_vendor": "LENOVO\n",
        "/proc/1/cgroup": "0::/init.scope\n",
      ])
      #expect(EmulatorGuard(root: root.path) { nil }.examine().isEmpty)
    }

    @Test(
      "hypervisors, emulators and containers are recognised by their traces",
      arguments: [
        (
          "/sys/class/dmi/id/product_name", "Standard PC (Q35 + ICH9, 2009) QEMU\n", Finding.hypervisor,
          "QEMU"
        ),
        ("/sys/class/dmi/id/sys_vendor", "VMware, Inc.\n", .hypervisor, "VMware"),
        ("/proc/cpuinfo", "model name : QEMU Virtual CPU version 2.5+\n", .emulator, "QEMU Virtual CPU"),
        ("/proc/cpuinfo", "hypervisor : TCGTCGTCGTCG\n", .emulator, "TCGTCGTCGTCG"),
        ("/proc/cpuinfo", "Hardware : ranchu\n", .emulator, "ranchu"),
        ("/.dockerenv", "", .container, "Docker"), ("/run/.containerenv", "", .container, "Podman"),
        ("/run/systemd/container", "lxc\n", .container, "lxc"),
        ("/proc/1/cgroup", "0::/kubepods/besteffort/pod1\n", .container, "kubepods"),
      ])
    func virtualMachine(_ path: String, _ text: String, _ finding: Finding, _ word: String) throws {
      let root = try machine([path: text])
      let found = EmulatorGuard(root: root.path) { nil }.examine()
      #expect(
        found.map(\.finding) == [finding] && found.allSatisfy { $0.explanation.contains(word) }, "\(found)")
      // It describes a machine, not an attack.
      #expect(found.allSatisfy { $0.weight == 0 })
    }

    @Test("the processor's hypervisor flag has precedence over the firmware")
    func processor() throws {
      let root = try machine([:])
      let found = EmulatorGuard(root: root.path) { "KVMKVMKVM" }.examine()
      #expect(found.map(\.explanation) == ["the machine is a virtual one (KVMKVMKVM)"])
    }

    @Test(
      "root, elevated rights and system or program files writable by others are found",
      .enabled(if: geteuid() == 0, "needs root, to make files of the system"))
    func rights() throws {
      let root = try machine(["/etc/passwd": "", "/usr/lib/x": "", "/opt/app/bin/app": ""])
      let program = root.path + "/opt/app/bin/app"
      var identity = RootGuard.Identity()
      (identity.user, identity.effectiveUser, identity.group, identity.effectiveGroup) = (
        1000, 1000, 1000, 1000
      )
      func found() -> [Evidence] {
        RootGuard(root: root.path, program: { program }, identity: { [identity] in identity }).examine()
      }
      #expect(found().isEmpty, "\(found())")
      (identity.user, identity.effectiveUser) = (0, 0)
      #expect(found().map(\.finding) == [.rootUser] && found()[0].weight == 0)
      identity.user = 1000
      #expect(found().map(\.finding) == [.rootUser, .changedUser])
      (identity.effectiveUser, identity.effectiveGroup) = (1000, 42)
      #expect(found().map(\.finding) == [.changedUser])
      // A group that the program's file grants is expected.
      #expect(chown(program, 0, 42) == 0 && chmod(program, 0o2755) == 0)
      #expect(found().isEmpty, "\(found())")
      identity.effectiveGroup = 43
      #expect(found().map(\.finding) == [.changedUser])
      identity.effectiveGroup = 1000
      #expect(chmod(root.path + "/etc/passwd", 0o666) == 0)
      #expect(found().map(\.finding) == [.writableSystem] && found()[0].explanation.contains("/etc/passwd"))
      #expect(chmod(root.path + "/etc/passwd", 0o644) == 0 && chown(root.path + "/usr/lib", 1000, 0) == 0)
      #expect(found().map(\.finding) == [.writableSystem] && found()[0].explanation.contains("/usr/lib"))
      #expect(chown(root.path + "/usr/lib", 0, 0) == 0 && chmod(root.path + "/opt/app/bin", 0o777) == 0)
      #expect(found().map(\.finding) == [.writableProgram])
      #expect(chmod(root.path + "/opt/app/bin", 0o755) == 0 && chmod(program, 0o777) == 0)
      #expect(found().map(\.finding) == [.writableProgram])
    }

    @Test("an overwritten GOT entry is found until it is restored")
    func changedEntry() async {
      // In a separate process: no other code may see the entry or follow it.
      await #expect(processExitsWith: .success) {
        let hooks = HookGuard([.init(library: "libc.so", functions: ["time"])])
        #expect(try hooks.examine().isEmpty)
        let crypto = try #require(
          LoadedObjects.own()?.objects.first { $0.fileName.hasPrefix("libcrypto.so") })
        let slot = try #require(crypto.image.slots(of: ["time"], in: ProcessMemory()).first)
        let page = UnsafeMutableRawPointer(bitPattern: UInt(slot.address & ~4095))
        #expect(mprotect(page, 4096, PROT_READ | PROT_WRITE) == 0)
        let entry = try #require(UnsafeMutablePointer<UInt>(bitPattern: UInt(slot.address)))
        let original = entry.pointee
        let argon = try #require(LoadedObjects.own()?.objects.first { $0.fileName.hasPrefix("libargon2.so") })
        // Another library's function, and memory without a file, as hooks use them.
        let other = try #require(argon.image.address(of: "argon2_error_message", in: ProcessMemory()))
        entry.pointee = UInt(other)
        let redirected = try hooks.examine()
        let memory = try #require(mmap(nil, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
        entry.pointee = UInt(bitPattern: memory)
        let nameless = try hooks.examine()
        entry.pointee = original
        munmap(memory, 4096)
        // If the loader had made the page read-only, it is made so again.
        #expect(mprotect(page, 4096, PROT_READ) == 0)
        #expect(
          redirected.map(\.finding) == [.redirectedCall] && nameless.map(\.finding) == [.redirectedCall])
        #expect(redirected.first?.explanation.contains("leads to libargon2.so") == true, "\(redirected)")
        #expect(nameless.first?.explanation.contains("memory without a file") == true, "\(nameless)")
        #expect(try hooks.examine().isEmpty)
      }
    }

    @Test(
      "code in a memory file, anonymous code and a toolkit's thread are found while present"
    )
    func instrumented() throws {
      let sentry = InstrumentationGuard()
      #expect(try sentry.examine().filter { $0.weight > 0.5 }.isEmpty)
      let descriptor = "agent".withCString { name in
        Int32(truncatingIfNeeded: signet_kernel(Int(SYS_memfd_create), Int(bitPattern: name), 0, 0, 0, 0, 0))
      }
      try #require(descriptor >= 0 && ftruncate(descriptor, 4096) == 0)
      let file = mmap(nil, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, descriptor, 0)
      try #require(file != MAP_FAILED)
      #expect(
        try sentry.examine().contains { $0.finding == .memoryFile && $0.explanation.contains("memfd:agent") })
      munmap(file, 4096)
      close(descriptor)
      let code = mmap(nil, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
      #expect(try sentry.examine().contains { $0.finding == .anonymousCode })
      munmap(code, 4096)
      let (begun, end, over) = (
        DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
      )
      Thread.detachNewThread {
        Self.nameThread("gum-js-loop")
        begun.signal()
        end.wait()
        Self.nameThread("quiet")
        over.signal()
      }
      begun.wait()
      let threads = try sentry.examine()
      end.signal()
      over.wait()
      #expect(threads.contains { $0.finding == .toolkitThread })
      #expect(try sentry.examine().filter { $0.weight > 0.5 }.isEmpty)
    }

    /// Names this thread.
    ///
    /// `Thread.name` has no effect until `Thread` knows the started thread.
    private static func nameThread(_ name: String) {
      let result = name.withCString {
        signet_kernel(Int(SYS_prctl), Int(PR_SET_NAME), Int(bitPattern: $0), 0, 0, 0, 0)
      }
      precondition(result == 0)
    }

    @Test("a core dump is possible until it is forbidden; closed memory can't be read by others")
    func coreDumps() async {
      await #expect(processExitsWith: .success) {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        // If the machine forbids all dumps, there is nothing to find.
        if limit.rlim_max > 0 {
          limit.rlim_cur = limit.rlim_max
          setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
          precondition(CoreDumpGuard().examine().map(\.finding) == [.coreDumps])
        }
        precondition(ProcessHardening.isOpen && ProcessHardening.forbidCoreDumps())
        precondition(CoreDumpGuard().examine().isEmpty && ProcessHardening.isOpen)
        precondition(ProcessHardening.closeMemory() && !ProcessHardening.isOpen)
      }
    }

    @Test("calls that a filter refuses fail with EPERM in all threads, and others go on")
    func filter() async throws {
      struct Filtering: Guard {
        let name = "filtering"
        var placement: GuardPlacement { .child(limit: .seconds(60)) }
        func examine() throws -> [Evidence] {
          try SystemCallFilter.denyExec.begin()
          var words: [String] = []
          words.append(SystemCallFilter.isInForce == true ? "filter" : "none")
          let name = strdup("/bin/true")
          var arguments: [UnsafeMutablePointer<CChar>?] = [name, nil]
          words.append(execv("/bin/true", &arguments) == -1 && errno == EPERM ? "no program" : "program")
          words.append(chroot("/") == -1 && errno == EPERM ? "no other root" : "another root")
          words.append(
            FileManager.default.contents(atPath: "/proc/self/status") != nil ? "files" : "no files")
          words.append(SecureRandom.bytes(4).count == 4 ? "random" : "")
          return [Evidence(.failedGuard, words.joined(separator: ", "))]
        }
      }
      let report = try await Integrity(
        guards: [Filtering()], settings: .init(reaction: .report), clock: VirtualTimer()
      ).evaluate()
      #expect(report.evidence.map(\.explanation) == ["filter, no program, no other root, files, random"])
    }
  }
#endif
