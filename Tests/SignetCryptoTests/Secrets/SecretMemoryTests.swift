#if os(Linux)
  import Foundation
  import Glibc
  import SignetCrypto
  import Testing

  /// The kernel's data about the pages of a secret (`/proc/self/smaps`).
  @Suite("Secret memory", .enabled(if: PageFlags.showLocking))
  struct SecretMemoryTests {
    @Test(
      "small and large secrets are locked and left out of core dumps", arguments: [32, 500, 4096, 50_000])
    func isLocked(_ count: Int) throws {
      let secret = SecretBytes.random(byteCount: count)
      let address = secret.withBytes { span in
        span.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
      }
      let flags = try #require(try PageFlags.read(at: address))
      #expect(secret.byteCount == count)  // alive until here
      #expect(flags.contains("lo"), "locked")
      #expect(flags.contains("dd"), "not dumped")
    }

    @Test(
      "secrets beyond the first block of their size are locked too",
      arguments: [(64, 4200), (512, 600), (4096, 100)])
    func isLockedBeyondTheFirstBlock(_ byteCount: Int, _ count: Int) throws {
      let boxes = (0..<count).map { _ in SharedSecretBox(SecretBytes.random(byteCount: byteCount)) }
      let last = boxes[count - 1].withSecret { secret in
        secret.withBytes { span in span.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) } }
      }
      #expect(try PageFlags.read(at: last)?.contains("lo") == true)
      #expect(Set(boxes.map { $0.withSecret { $0.insecureCopy() } }).count == count)  // alive until here
    }
  }

  /// The kernel's flags of one mapping of this process.
  private enum PageFlags {
    /// Indicates whether a locked page shows as locked: not without the right to lock memory, and not under the sanitizers, which
    /// disable `mlock`.
    static let showLocking: Bool = {
      let byteCount = 1 << 20
      let flags = MAP_PRIVATE | MAP_ANONYMOUS
      guard let page = mmap(nil, byteCount, PROT_READ | PROT_WRITE, flags, -1, 0),
        page != UnsafeMutableRawPointer(bitPattern: -1)
      else { return false }
      defer { munmap(page, byteCount) }
      guard mlock(page, byteCount) == 0 else { return false }
      do {
        return try read(at: UInt(bitPattern: page))?.contains("lo") == true
      } catch {
        return false
      }
    }()

    static func read(at address: UInt) throws -> [Substring]? {
      // Read as a stream, since the kernel reports no size for this file.
      let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/self/smaps"))
      let map = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
      var isInside = false
      for line in map.split(separator: "\n") {
        let words = line.split(separator: " ")
        let ends = words.first.map { $0.split(separator: "-") } ?? []
        if ends.count == 2, let start = UInt(ends[0], radix: 16), let end = UInt(ends[1], radix: 16) {
          isInside = (start..<end).contains(address)
        } else if isInside, words.first == "VmFlags:" {
          return Array(words.dropFirst())
        }
      }
      return nil
    }
  }
#endif
