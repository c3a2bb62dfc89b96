import Testing

import SignetIntegrity

/// The guards' findings from the data of Apple's systems; only a test on an Apple machine can show that they query it correctly.
@Suite(.timeLimit(.minutes(10))) struct JailbreakGuardTests {
  @Test("each jailbreak file is found by its path; a clean device has none")
  func files() {
    #expect(JailbreakFileGuard { _ in false }.examine().isEmpty)
    let found = JailbreakFileGuard { ["/var/jb", "/etc/apt", "/etc/passwd"].contains($0) }.examine()
    #expect(found.map(\.finding) == [.jailbreakFile, .jailbreakFile])
    #expect(found.map(\.explanation).allSatisfy { $0.hasPrefix("/var/jb ") || $0.hasPrefix("/etc/apt ") })
    #expect(JailbreakFileGuard { _ in true }.examine().count == JailbreakFileGuard.paths.count)
  }

  @Test("an app that can write outside of its sandbox reports the path once")
  func sandbox() {
    #expect(SandboxGuard { _ in false }.examine().isEmpty)
    let found = SandboxGuard { $0 == "/var/root" }.examine()
    #expect(found.map(\.finding) == [.openSandbox] && found[0].explanation.contains("/var/root"))
    #expect(SandboxGuard { _ in true }.examine().count == 1)
  }

  @Test(
    "toolkit images are found in any letter case; system images and folders are not",
    arguments: [
      ("/usr/lib/FridaGadget.dylib", true), ("/Library/MobileSubstrate/MobileSubstrate.dylib", true),
      ("/var/jb/usr/lib/ellekit/libinjector.dylib", false), ("/var/jb/usr/lib/libellekit.dylib", true),
      ("/usr/lib/libSystem.B.dylib", false), ("", false), ("/", false),
    ])
  func images(_ path: String, _ isFound: Bool) {
    let found = LoadedImageGuard { ["/usr/lib/libobjc.A.dylib", path] }.examine()
    #expect(found.map(\.finding) == (isFound ? [.jailbreakImage] : []))
  }

  @Test("jailbreak apps are found by their URL schemes")
  func schemes() {
    #expect(URLSchemeGuard { _ in false }.examine().isEmpty)
    let found = URLSchemeGuard { ["sileo", "https"].contains($0) }.examine()
    #expect(found.map(\.explanation) == ["an app opens sileo: URLs"])
    #expect(found.map(\.finding) == [.jailbreakScheme])
  }

  @Test("jailbreak guards run like any others, and their evidence blocks key use")
  func together() async throws {
    func gate(isJailbroken: Bool) throws -> IntegrityGate {
      IntegrityGate(
        try Integrity(
          guards: [
            JailbreakFileGuard { _ in isJailbroken }, SandboxGuard { _ in isJailbroken },
            LoadedImageGuard { isJailbroken ? ["/usr/lib/frida.dylib"] : [] },
            URLSchemeGuard { _ in isJailbroken },
          ], flavour: .release))
    }
    #expect(try await gate(isJailbroken: false).admit().score == 0)
    await #expect(throws: IntegrityFailure.self) { try await gate(isJailbroken: true).admit() }
  }
}
