#if os(Linux)
  import Foundation
  import SignetCrypto
  import SignetTestKit
  import Testing

  /// The remains of secrets that no secret type can wipe.
  ///
  /// Each test runs in a separate process, in which nothing else has the secret.
  @Suite(.timeLimit(.minutes(10))) struct DeadStackTests {
    @Test("copying leaves a secret in vector registers, and wiping the dead stack overwrites them")
    func registers() async {
      await #expect(processExitsWith: .success) {
        let saved = try SavedRegisters()
        let bench = try Bench()
        // The control: the copied secret is saved with the registers.
        bench.copy { saved.save() }
        #expect(try bench.copies() > 1)
        saved.clear()
        #expect(try bench.copies() == 1)
        bench.copy {
          DeadStack.wipe()
          saved.save()
        }
        #expect(try bench.copies() == 1)
      }
    }

    @Test("making a secret and wiping an array leave nothing in vector registers")
    func ownCopies() async {
      await #expect(processExitsWith: .success) {
        let saved = try SavedRegisters()
        let bench = try Bench()
        let copy = bench.secret.withSecret { $0.copy() }
        saved.save()
        #expect(try bench.copies() == 2)
        var array = copy.insecureCopy()
        array.wipe()
        saved.save()
        #expect(try bench.copies() == 2)
        _ = consume copy
      }
    }

    @Test("stack remains of calls are overwritten, down to the promised depth")
    func stack() async {
      await #expect(processExitsWith: .success) {
        let bench = try Bench()
        bench.leave(depth: 15)
        #expect(try bench.copies() > 1)
        bench.leave(depth: 15)
        DeadStack.wipe()
        #expect(try bench.copies() == 1)
        DeadStack.wiped { bench.leave(depth: 15) }
        #expect(try bench.copies() == 1)
      }
    }

    /// A secret, and a search for its copies.
    private struct Bench {
      let secret = SharedSecretBox(.random(byteCount: 24))
      let search: MemorySearch
      private let place = UnsafeMutableRawBufferPointer.allocate(byteCount: 24, alignment: 64)

      init() throws {
        search = try MemorySearch()
        secret.withSecret { search.add("secret", $0) }
        // From here on the address has escaped the program, so the compiler omits no copy.
        wipe(place)
      }

      /// Returns the number of found parts of the most frequent kind.
      func copies() throws -> Int { try search.found().values.max() ?? 0 }

      /// Copies the secret, runs `next`, and overwrites the copy.
      @inline(never)
      func copy(next: () -> Void) {
        secret.withSecret { secret in
          secret.withBytes { bytes in
            bytes.withUnsafeBytes { place.copyMemory(from: $0) }
            next()
          }
        }
        wipe(place)
      }

      /// Writes copies to the stack, one each KiB, and returns without wiping them.
      @inline(never)
      func leave(depth: Int) {
        withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 16) { buffer in
          wipe(buffer)
          secret.withSecret {
            $0.withBytes { bytes in bytes.withUnsafeBytes { buffer.copyMemory(from: $0) } }
          }
          if depth > 0 { leave(depth: depth - 1) }
        }
      }
    }

    /// Makes the system write the registers to memory, on the stack of a signal handler.
    private struct SavedRegisters {
      private let stack = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 64)

      init() throws {
        var new = stack_t(ss_sp: stack.baseAddress, ss_flags: 0, ss_size: stack.count)
        try #require(sigaltstack(&new, nil) == 0)
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in }
        action.sa_flags = SA_ONSTACK
        try #require(sigaction(SIGUSR1, &action, nil) == 0)
        // Threads of a pool block signals.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGUSR1)
        try #require(pthread_sigmask(SIG_UNBLOCK, &signals, nil) == 0)
        wipe(stack)
        save()
        try #require(stack.contains { $0 != 0 })
        clear()
      }

      func save() { raise(SIGUSR1) }
      func clear() { wipe(stack) }
    }
  }
#endif
