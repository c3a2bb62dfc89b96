#if os(Linux)
  import Foundation
  import SignetTestKit
  import Testing

  /// The `free` of `signet`, in a C program.
  ///
  /// `LastWriteTests/accounts` shows its effect in `signet` itself.
  @Suite(.timeLimit(.minutes(5)), .enabled(if: IntegrityCommandTests.hasTool("cc"), "needs a C compiler"))
  struct FreedMemoryTests {
    private let folder: TemporaryFolder
    private static let tests = URL(filePath: #filePath).deletingLastPathComponent()

    init() throws { folder = try TemporaryFolder() }

    /// Compiles the program, with or without our `free`.
    private func program(_ name: String, with sources: [String]) async throws -> String {
      let program = folder.file(name)
      let paths = (["../Interop/freed_memory.c"] + sources).map { Self.tests.appending(path: $0).path }
      let made = try await ChildCommand(
        ["/usr/bin/cc", "-w", "-O0", "-fno-builtin", "-pthread", "-o", program] + paths
      ).finish()
      try #require(made.status == 0, made.summary)
      return program
    }

    @Test("freed memory of any size is wiped; a double free still ends the program")
    func wiped() async throws {
      let ours = try await program("ours", with: ["../../Sources/CWipingFree/wiping_free.c"])
      let result = try await ChildCommand([ours]).finish()
      #expect(result.status == 0, result.summary)
      #expect(!result.output.contains("left"), result.summary)
      #expect(result.output.contains("131136: wiped") && result.output.contains("cut: wiped"), result.summary)
      #expect(try await ChildCommand([ours, "twice"]).finish().status == -SIGABRT)
      // The control: the C library leaves the content.
      let plain = try await ChildCommand([program("plain", with: [])]).finish()
      #expect(plain.output.contains("131136: left") && plain.output.contains("40: left"), plain.summary)
    }
  }
#endif
