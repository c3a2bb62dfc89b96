import Foundation
import Testing

import SignetTestKit

@Suite(.timeLimit(.minutes(1))) struct FreePortTests {
  @Test("concurrent tasks get different ports, below those of outgoing connections") func different()
    async throws
  {
    let ports = try await withThrowingTaskGroup(of: UInt16.self) { group in
      for _ in 0..<200 { group.addTask { try FreePort.find() } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(Set(ports).count == 200 && ports.allSatisfy(FreePort.ports.contains))
  }

  @Test("concurrent processes get different ports") func processes() async throws {
    let folder = try TemporaryFolder()
    let files = (0..<3).map { folder.file("\($0)") }
    await withTaskGroup { group in
      for file in files {
        group.addTask {
          await #expect(processExitsWith: .success) { [file = file as String] in
            let ports = try (0..<100).map { _ in "\(try FreePort.find())" }
            try ports.joined(separator: "\n").write(toFile: file, atomically: true, encoding: .utf8)
          }
        }
      }
    }
    let ports = try files.flatMap { try String(contentsOfFile: $0, encoding: .utf8).split(separator: "\n") }
    #expect(ports.count == 300 && Set(ports).count == 300)
  }

  @Test("a port in use is skipped") func taken() throws {
    let port = try FreePort.find()
    let held = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(held) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let isHeld = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(held, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0 && listen(held, 1) == 0
      }
    }
    try #require(isHeld)
    #expect(!FreePort.isFree(port))
  }

  #if os(Linux)
    @Test("the ports end before the system's ephemeral ports") func range() throws {
      let text = try String(contentsOfFile: "/proc/sys/net/ipv4/ip_local_port_range", encoding: .utf8)
      let lowest = try #require(text.split(whereSeparator: \.isWhitespace).first.flatMap { UInt16($0) })
      #expect(FreePort.ports.upperBound <= max(lowest, 32_768) && FreePort.ports.count > 1_000)
    }
  #endif
}
