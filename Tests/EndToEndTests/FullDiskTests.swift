import Foundation
import Signet
import SignetJSON
import SignetTestKit
import Testing

/// Full disks: a message, no partial writes, and normal work once there is room.
@Suite(.serialized, .timeLimit(.minutes(10))) struct FullDiskTests {
  @Test(.enabled(if: TinyDisk.isPossible, "needs the right to mount")) func ofTheDevice() async throws {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    for kilobytes in [4, 16, 40, 64, 96, 128, 192, 512] {
      let disk = try TinyDisk(kilobytes: kilobytes)
      let device = InstalledSignet(data: "\(disk.folder.path)/data", authority: server.authority)
      let user = "user-\(kilobytes)"
      let code = try await server.codeFile(user)
      let result = try await device.run("activate", "--code-file", code)
      let what: Comment = "\(kilobytes) KiB: \(result.summary)"
      #expect(result.status == 0 || result.isRefusal(74, "the disk is full"), what)
      #expect((result.status == 0) == (kilobytes == 512) || (16..<512).contains(kilobytes), what)
      try disk.resize(kilobytes: 4096)
      if result.status != 0 { _ = try await device.json("activate", "--code-file", code) }
      #expect(try await device.containers().map(\.isConfirmed) == [true], what)
      #expect(try await server.accepts(device.json("otp").string("code"), of: user), what)
      try KillBench.checkDatabase("\(device.data)/vault.sqlite", "\(kilobytes) KiB")
    }
    await server.stop()
  }

  @Test(.enabled(if: TinyDisk.isPossible, "needs the right to mount")) func ofTheServer() async throws {
    let disk = try TinyDisk(kilobytes: 4096)
    let server = try await RunningServer.startWithShop()
    await server.stop()
    let data = "\(disk.folder.path)/data"
    try FileManager.default.copyItem(atPath: server.data, toPath: data)
    try FileManager.default.removeItem(atPath: server.data)
    try FileManager.default.createSymbolicLink(atPath: server.data, withDestinationPath: data)
    let running = try await server.again()
    _ = try await running.json("user", "add", "alice")
    // Fills the disk to the last byte.
    #expect(FileManager.default.createFile(atPath: "\(disk.folder.path)/ballast", contents: nil))
    let ballast = try FileHandle(forWritingTo: URL(filePath: "\(disk.folder.path)/ballast"))
    for size in [65536, 4096, 1] {
      do { while true { try ballast.write(contentsOf: Data(repeating: 0, count: size)) } } catch {}
    }
    var refusals = 0
    for number in 0..<40 {
      let result = try await running.run("user", "add", "user-\(number)")
      guard result.status != 0 else { continue }
      #expect(result.isRefusal(75, "Nothing was changed; try again later."), result.summary)
      refusals += 1
    }
    #expect(refusals > 0)
    #expect(running.events.contains("the disk is full"))
    // Exactly the acknowledged users exist.
    try ballast.truncate(atOffset: 0)
    let users = try await running.json("user", "list").array("users").count
    #expect(users == 41 - refusals)
    _ = try await running.json("user", "add", "bob")
    #expect(try await running.json("audit", "verify")["intact"] == true)
    await running.stop()
  }

  /// The variant without mounting: a limit on the file size replaces the end of the disk (`ulimit -f`, units of 512 bytes).
  @Test func ofAFileSizeLimit() async throws {
    let server = try await RunningServer.start(["--protection", "device"])
    for blocks in [0, 1, 8, 40, 64, 72, 80, 96] {
      let user = "user-\(blocks)"
      var device = server.device(user)
      let code = try await server.codeFile(user)
      // Ignored signals stay ignored; otherwise the signal would end the program before its write fails.
      device.launcher = ["/bin/sh", "-c", "trap '' XFSZ; ulimit -f \(blocks); exec \"$@\"", "sh"]
      var command = try device.process(["activate", "--code-file", code])
      // Pipes, since the limit would also apply to output files.
      (command.output, command.errorOutput) = (.pipe, .pipe)
      let process = try command.start()
      let status = try await process.end()
      let message = String(decoding: process.errorOutput.availableData, as: UTF8.self)
      #expect([0, 65, 73, 74].contains(status), "\(blocks): \(status), \(message)")
      #expect(blocks > 0 || status != 0)
      if status != 0 { #expect(message.contains("signet activate: "), "\(blocks): \(message)") }
      device.launcher = []
      if status != 0 { _ = try await device.json("activate", "--code-file", code) }
      #expect(try await device.containers().map(\.isConfirmed) == [true], "\(blocks)")
      try KillBench.checkDatabase("\(device.data)/vault.sqlite", "\(blocks) blocks")
    }
    await server.stop()
  }
}
