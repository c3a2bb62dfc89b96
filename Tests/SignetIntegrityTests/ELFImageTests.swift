#if os(Linux)
  import Foundation
  import SignetTestKit
  import Testing

  import SignetIntegrity

  @Suite struct ELFImageTests {
    /// Memory with any content.
    private struct Bytes: ByteSource {
      var content: [UInt8]
      let base: UInt64

      func bytes(at address: UInt64, count: Int) -> [UInt8]? {
        guard count >= 0, address >= base, address - base <= UInt64(content.count),
          UInt64(content.count) - (address - base) >= UInt64(count)
        else { return nil }
        return Array(content[Int(address - base)..<(Int(address - base) + count)])
      }
    }

    private func loaded(_ name: String) throws -> LoadedObject {
      try #require(LoadedObjects.own()?.objects.first { $0.fileName.hasPrefix(name) })
    }

    @Test(
      "a loaded library's name, dependencies, functions and import slots are read")
    func library() throws {
      let crypto = try loaded("libcrypto.so")
      #expect(crypto.image.soname == "libcrypto.so.3" && crypto.image.needed.contains("libc.so.6"))
      let address = try #require(crypto.image.address(of: "RAND_bytes", in: ProcessMemory()))
      let handle = try #require(dlopen("libcrypto.so.3", RTLD_NOLOAD | RTLD_NOW))
      defer { dlclose(handle) }
      #expect(UInt64(UInt(bitPattern: dlsym(handle, "RAND_bytes"))) == address)
      #expect(crypto.image.address(of: "no_such_function", in: ProcessMemory()) == nil)
      let slots = crypto.image.slots(of: ["memcmp", "getentropy", "time"], in: ProcessMemory())
      #expect(slots.contains { $0.function == "time" })
      #expect(slots.allSatisfy { ProcessMemory().word(at: $0.address) != nil })
      #expect(crypto.image.fileOffset(of: address, count: 64) != nil)
      #expect(crypto.image.fileOffset(of: 0, count: 1) == nil)
    }

    @Test(
      "memory is compared with any part of a file: equal, different last byte, short file"
    )
    func comparedMemory() throws {
      let folder = try TemporaryFolder()
      let path = folder.file("program")
      let content = (0..<200_003).map { UInt8(truncatingIfNeeded: $0 * 31 >> 3) }
      try Data(content).write(to: URL(filePath: path))
      guard let file = FileBytes(path) else { throw GuardFailure("the file can't be read") }
      for (offset, count) in [(0, 200_003), (1, 8), (65_535, 2), (65_537, 134_466), (4_096, 7)] {
        var bytes = [UInt8](repeating: 0, count: count)
        #expect(file.read(&bytes, at: UInt64(offset)) == count)
        var memory = Array(content[offset..<(offset + count)])
        for change: UInt8 in [0, 1] {
          memory[count - 1] ^= change
          let isSame = memory.withUnsafeBytes {
            ProcessMemory().isSame(bytes.span, at: UInt64(UInt(bitPattern: $0.baseAddress)))
          }
          #expect(isSame == (change == 0), "\(offset), \(count)")
        }
      }
      var bytes = [UInt8](repeating: 0, count: 10)
      #expect(file.read(&bytes, at: 200_000) == 3)
      #expect(file.read(&bytes, at: 200_003) == 0)
      #expect(file.read(&bytes, at: .max) == nil)
      let ofFolder = FileBytes(folder.path)?.read(&bytes, at: 0)
      #expect(ofFolder == nil, "a folder has no bytes")
    }

    @Test("every loaded object is read, and the program with its library paths")
    func all() throws {
      let loaded = try #require(LoadedObjects.own())
      #expect(loaded.objects.count > 5)
      let again = LoadedObjects(of: loaded.map, earlier: loaded)
      #expect(again.objects.map(\.base) == loaded.objects.map(\.base))
      #expect(loaded.objects.contains { !$0.image.searchFolders.isEmpty })
    }

    @Test("a changed header, table or string is read within bounds or refused")
    func hostile() throws {
      let crypto = try loaded("libargon2.so")
      let count = 16_384
      let head = try #require(ProcessMemory().bytes(at: crypto.base, count: count))
      let whole = try #require(FileManager.default.contents(atPath: crypto.path)).map(\.self)
      var random = SplitMix64(seed: 11)
      for round in 0..<3000 {
        var bytes = Bytes(content: round % 2 == 0 ? head : whole, base: 0x1000)
        for _ in 0..<(1 + round % 6) {
          // Changes in the headers are the most dangerous.
          let place = Int(random.next() % UInt64(round % 3 == 0 ? bytes.content.count : 1024))
          bytes.content[place] = UInt8(truncatingIfNeeded: random.next())
        }
        if round % 7 == 0 { bytes.content = Array(bytes.content.prefix(Int(random.next() % 4096))) }
        guard let image = ELFImage(at: 0x1000, in: bytes) else { continue }
        _ = image.slots(of: ["memcpy"], in: bytes)
        _ = image.address(of: "argon2_ctx", in: bytes)
        _ = image.fileOffset(of: random.next(), count: 64)
      }
      #expect(ELFImage(at: 0, in: Bytes(content: [], base: 0)) == nil)
      #expect(ELFImage(at: 0, in: Bytes(content: Array("#!/bin/sh".utf8), base: 0)) == nil)
    }

    @Test("unmapped memory causes no crash")
    func memory() throws {
      #expect(ProcessMemory().bytes(at: 1, count: 8) == nil)
      #expect(ProcessMemory().bytes(at: .max, count: 8) == nil)
      #expect(ProcessMemory().bytes(at: 0, count: 0) == [])
      if FileBytes("/nowhere") != nil { Issue.record("a file that is not there was opened") }
    }
  }
#endif
