#if os(Linux)
  import Foundation
  import SignetTestKit
  import Testing

  /// `make install`, with the commands of this build.
  @Suite(.serialized, .timeLimit(.minutes(10))) struct InstallTests {
    private let folder: TemporaryFolder
    private let binaries: String
    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().path

    init() throws {
      folder = try TemporaryFolder()
      binaries = folder.file("binaries")
      try FileManager.default.createDirectory(atPath: binaries, withIntermediateDirectories: false)
      // A debug build needs the toolchain's libraries, which the installation rejects; these scripts replace it.
      let built = URL(filePath: try InstalledSignet.executable()).deletingLastPathComponent().path
      for command in ["signet", "signet-server"] {
        let script = "#!/bin/sh\nexec '\(built)/\(command)' \"$@\"\n"
        try Data(script.utf8).write(to: URL(filePath: "\(binaries)/\(command)"))
        #expect(chmod("\(binaries)/\(command)", 0o755) == 0)
      }
    }

    private func install(_ environment: [String: String]) async throws -> ServerCommand.Result {
      var all = ProcessInfo.processInfo.environment
      for name in ["PREFIX", "DESTDIR", "SYSCONFDIR", "RELEASE_KEY", "GROUP"] { all[name] = nil }
      return try await ChildCommand(
        ["\(Self.root)/Scripts/install", binaries],
        environment: all.merging(["STRIP": "true"]) { $1 }.merging(environment) { $1 }
      ).finish()
    }

    /// One installation for all tests that only read it.
    private static let placed = Task {
      let tests = try InstallTests()
      let result = try await tests.install(["PREFIX": tests.folder.file("prefix")])
      try #require(result.status == 0, result.summary)
      return tests.folder
    }

    private func placedPrefix() async throws -> String { try await Self.placed.value.file("prefix") }

    private func content(_ path: String) -> String? {
      FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("commands, manuals, completions, units and the PAM file are installed where the system looks")
    func places() async throws {
      let root = folder.file("image")
      let result = try await install(["DESTDIR": root, "PREFIX": "/usr"])
      #expect(result.status == 0, result.summary)
      let expected = [
        "etc/pam.d/signet": 0o644, "usr/bin/signet": 0o755, "usr/bin/signet-server": 0o755,
        "usr/lib/systemd/system/signet-server@.service": 0o644, "usr/lib/sysusers.d/signet.conf": 0o644,
        "usr/lib/systemd/user/signet-agent.service": 0o644, "usr/lib/systemd/user/signet-agent.socket": 0o644,
        "usr/share/bash-completion/completions/signet": 0o644,
        "usr/share/bash-completion/completions/signet-server": 0o644,
        "usr/share/fish/vendor_completions.d/signet-server.fish": 0o644,
        "usr/share/fish/vendor_completions.d/signet.fish": 0o644, "usr/share/man/man1/signet.1": 0o644,
        "usr/share/man/man1/signet-server.1": 0o644,
        "usr/share/man/man5/signet-server.json.5": 0o644, "usr/share/zsh/site-functions/_signet": 0o644,
        "usr/share/zsh/site-functions/_signet-server": 0o644,
      ]
      let found = try FileManager.default.subpathsOfDirectory(atPath: root).filter { path in
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: "\(root)/\(path)", isDirectory: &isFolder)
          && !isFolder.boolValue
      }
      #expect(found.sorted() == expected.keys.sorted())
      for (path, mode) in expected {
        #expect(permissions(of: "\(root)/\(path)") == mode, "\(path)")
        // The output names each path, for packagers.
        #expect(result.output.contains("\(root)/\(path)\n"), "\(path)")
      }
      // The image is for another machine: no file in it names the build path.
      let unit = try #require(content("\(root)/usr/lib/systemd/user/signet-agent.service"))
      #expect(unit.contains("ExecStart=/usr/bin/signet agent\n") && !unit.contains("@bindir@"))
      #expect(content("\(root)/usr/share/man/man1/signet.1")?.contains(".Nm signet") == true)
    }

    @Test("a command that links the toolchain's libraries is not installed")
    func toolchain() async throws {
      let tools = folder.file("tools")
      try FileManager.default.createDirectory(atPath: tools, withIntermediateDirectories: false)
      let script = """
        #!/bin/sh
        echo "libswiftCore.so => /opt/swift/usr/lib/swift/linux/libswiftCore.so"
        seq -f "libmore.so.%.0f => /usr/lib/libmore.so" 5000

        """
      try Data(script.utf8).write(to: URL(filePath: "\(tools)/ldd"))
      #expect(chmod("\(tools)/ldd", 0o755) == 0)
      let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
      let prefix = folder.file("none")
      let result = try await install(["PREFIX": prefix, "PATH": "\(tools):\(path)"])
      #expect(result.isRefusal(65, "needs the Swift toolchain to run"), result.summary)
      #expect(!FileManager.default.fileExists(atPath: prefix))
    }

    @Test(
      "programs contain no language tables, since each is hashed before it reads a secret",
      .enabled(if: Programs.folder != Programs.built, "a build for tests is larger"))
    func small() async throws {
      for name in ["signet", "signet-server"] {
        let attributes = try FileManager.default.attributesOfItem(atPath: try Programs.path(name))
        let byteCount = try #require(attributes[.size] as? Int)
        #expect(byteCount < 35_000_000, "\(name) has \(byteCount) bytes; does a source import Foundation?")
        let names = try await ChildCommand(["nm", "-D", "--defined-only", try Programs.path(name)]).finish()
        #expect(names.status == 0, names.summary)
        #expect(
          names.output.split(separator: "\n").count < 100, "\(name) has its names for libraries to look up")
      }
    }

    @Test(
      "root's installation sets a group on signet only; other installations print the commands"
    )
    func group() async throws {
      let prefix = folder.file("prefix")
      let result = try await install(["PREFIX": prefix, "GROUP": "65100"])
      #expect(result.status == 0, result.summary)
      for (command, isGrouped) in [("signet", geteuid() == 0), ("signet-server", false)] {
        var status = stat()
        try #require(stat("\(prefix)/bin/\(command)", &status) == 0)
        #expect(status.st_mode & 0o7777 == (isGrouped ? 0o2755 : 0o755), "\(command)")
        #expect((status.st_gid == 65_100) == isGrouped, "\(command)")
      }
      #expect(result.errorOutput.contains("chmod 2755") == (geteuid() != 0), result.summary)
      let image = try await install(["DESTDIR": folder.file("image"), "PREFIX": "/usr", "GROUP": "65100"])
      #expect(
        image.status == 0
          && image.errorOutput.contains("chgrp _signet /usr/bin/signet; chmod 2755 /usr/bin/signet"),
        image.summary)
      #expect(permissions(of: "\(folder.file("image"))/usr/bin/signet") == 0o755)
      #expect(
        content("\(folder.file("image"))/usr/lib/sysusers.d/signet.conf")?.contains("\ng _signet ") == true)
    }

    @Test("the release's key signs a manifest of the installed files; a missing key is reported")
    func manifest() async throws {
      let without = try await install(["PREFIX": folder.file("without")])
      #expect(
        without.status == 0 && without.errorOutput.contains("There is no manifest of this release"),
        without.summary)
      let (tool, key) = (try Programs.released("signet-manifest"), folder.file("release.key"))
      try FileManager.default.copyItem(atPath: tool, toPath: "\(binaries)/signet-manifest")
      let digits = try await run(tool, ["key", key]).output.filter { !$0.isWhitespace }
      let prefix = folder.file("prefix")
      let result = try await install(["PREFIX": prefix, "RELEASE_KEY": key])
      #expect(
        result.status == 0 && result.output.contains("\(prefix)/lib/signet/release.manifest\n"),
        result.summary)
      let words = ["verify", "--public-key", digits, "--manifest", "\(prefix)/lib/signet/release.manifest"]
      let installed = ["signet", "signet-server"].map { "\(prefix)/bin/\($0)" }
      let verified = try await run(tool, words + installed)
      #expect(verified.status == 0, verified.summary)
      try Data("#!/bin/sh\n".utf8).write(to: URL(filePath: installed[0]))
      let changed = try await run(tool, words + installed)
      #expect(changed.status == 1 && changed.output.contains("DOES NOT match release"), changed.summary)
    }

    @Test(
      "systemd accepts the server's unit and rates its sandbox as strict",
      .enabled(if: canAnalyze, "needs systemd-analyze"))
    func serverUnit() async throws {
      let prefix = try await placedPrefix()
      let installed = "\(prefix)/lib/systemd/system/signet-server@.service"
      let unit = try #require(content(installed))
      #expect(unit.contains("ExecStart=\(prefix)/bin/signet-server serve --data /var/lib/signet/%i\n"))
      // An instance such as `systemctl start signet-server@bank` makes.
      let instance = folder.file("signet-server@bank.service")
      try Data(unit.utf8).write(to: URL(filePath: instance))
      let verified = try await run(Self.analyzer, ["--man=no", "verify", instance])
      #expect(verified.status == 0 && !verified.summary.rawValue.contains("signet-server@"), verified.summary)
      let rated = try await run(
        Self.analyzer, ["security", "--offline=true", "--threshold=20", "--no-pager", instance])
      #expect(rated.status == 0, rated.summary)
      // The control: a weaker sandbox is found.
      try Data(
        unit.replacing("ProtectSystem=strict", with: "").replacing("NoNewPrivileges=yes", with: "").utf8
      )
      .write(to: URL(filePath: instance))
      let loose = try await run(
        Self.analyzer, ["security", "--offline=true", "--threshold=20", "--no-pager", instance])
      #expect(loose.status != 0, loose.summary)
    }

    private static func canRun(_ tool: String) -> Bool {
      FileManager.default.isExecutableFile(atPath: "/usr/bin/\(tool)")
        || ContinuousIntegration.isHere
    }

    private func run(_ tool: String, _ words: [String], input: String? = nil) async throws
      -> ServerCommand.Result
    {
      try await ChildCommand(
        [tool.hasPrefix("/") ? tool : "/usr/bin/\(tool)"] + words,
        environment: ServerCommand.cleanEnvironment,
        input: input.map { .bytes(Array($0.utf8)) } ?? .none
      ).finish()
    }

    @Test("mandoc reports no warnings for the manuals", .enabled(if: canRun("mandoc")))
    func manuals() async throws {
      let prefix = try await placedPrefix()
      for page in ["man1/signet.1", "man1/signet-server.1", "man5/signet-server.json.5"] {
        let lint = try await run("mandoc", ["-T", "lint", "-W", "all", "\(prefix)/share/man/\(page)"])
        // References to other pages depend on the system, and long lines in examples are intended.
        let found = (lint.output + lint.errorOutput).split(separator: "\n").filter {
          !$0.contains("referenced manual not found") && !$0.contains("input text line longer than 80 bytes")
        }
        #expect(found.isEmpty, "\(page): \(found)")
      }
    }

    @Test(
      "the settings manual has every member of docs/server-settings.md", .enabled(if: canRun("mandoc"))
    )
    func settingsManual() async throws {
      let prefix = try await placedPrefix()
      let page = try #require(content("\(prefix)/share/man/man5/signet-server.json.5"))
      let document = try #require(content("\(Self.root)/docs/server-settings.md"))
      let members = document.matches(of: /(?m)^\| `([A-Za-z]+)`/).map { String($0.output.1) }
      #expect(members.count > 20)
      for member in members { #expect(page.contains("\n.It Ic \(member)"), "\(member)") }
      let shown = try await run("mandoc", ["-T", "ascii", "\(prefix)/share/man/man5/signet-server.json.5"])
      let plain = shown.output.replacing(/.\u{8}/, with: "").split(whereSeparator: \.isWhitespace)
        .joined(separator: " ")
      #expect(plain.contains("An operator's key") && plain.contains("Default: 86400 seconds (a day)."))
    }

    @Test(
      "the completions load in their shells and know the commands",
      arguments: [
        ("bash", "share/bash-completion/completions", "signet"),
        ("bash", "share/bash-completion/completions", "signet-server"),
        ("fish", "share/fish/vendor_completions.d", "signet"),
        ("fish", "share/fish/vendor_completions.d", "signet-server"),
        ("zsh", "share/zsh/site-functions", "signet"),
        ("zsh", "share/zsh/site-functions", "signet-server"),
      ])
    func completions(_ shell: String, _ place: String, _ command: String) async throws {
      guard Self.canRun(shell) else { try Test.cancel("needs \(shell)") }
      let root = try await placedPrefix()
      let wanted = command == "signet" ? "approve" : "transaction"
      let beginning = String(wanted.prefix(4))
      let file = "\(root)/\(place)/\(shell == "zsh" ? "_" : "")\(command)\(shell == "fish" ? ".fish" : "")"
      let result =
        switch shell {
        case "bash":
          try await run(
            "bash", ["--norc", "-s"],
            input: """
              source '\(file)'
              COMP_WORDS=(\(command) \(beginning)) COMP_CWORD=1
              $(complete -p \(command) | sed -n 's/.*-F \\([^ ]*\\).*/\\1/p')
              printf '%s\\n' "${COMPREPLY[@]-}"

              """)
        case "fish":
          try await run(
            "fish", ["--no-config"], input: "source '\(file)'\ncomplete -C '\(command) \(beginning)'\n")
        default:
          try await run(
            "zsh", ["-f", "-s"],
            input: """
              fpath=('\(root)/\(place)' $fpath)
              autoload -Uz compinit; compinit -D
              [[ $_comps[\(command)] = _\(command) ]] && autoload -Uz +X _\(command) && grep -o '\(wanted)' '\(file)' | head -1

              """)
        }
      #expect(result.output.split(whereSeparator: \.isWhitespace).contains(Substring(wanted)), result.summary)
      #expect(result.errorOutput.isEmpty, result.summary)
    }

    @Test("an administrator's PAM file is kept, also if it is a link")
    func administratorsFile() async throws {
      let rules = folder.file("image/etc/pam.d/signet")
      #expect(try await install(["DESTDIR": folder.file("image")]).status == 0)
      #expect(content(rules) == content("\(Self.root)/pam/signet"))
      try Data("auth required pam_deny.so\n".utf8).write(to: URL(filePath: rules))
      let again = try await install(["DESTDIR": folder.file("image")])
      #expect(again.status == 0 && again.summary.rawValue.contains("stays"), again.summary)
      #expect(content(rules) == "auth required pam_deny.so\n")
      #expect(unlink(rules) == 0)
      try FileManager.default.createSymbolicLink(atPath: rules, withDestinationPath: "elsewhere")
      #expect(try await install(["DESTDIR": folder.file("image")]).status == 0)
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: rules) == "elsewhere")
    }

    @Test("with a custom prefix the PAM file goes to the given folder or is not installed")
    func ownPrefix() async throws {
      let prefix = folder.file("prefix")
      let result = try await install(["PREFIX": prefix])
      #expect(result.status == 0 && result.summary.rawValue.contains("copy pam/signet"), result.summary)
      #expect(content("\(prefix)/etc/pam.d/signet") == nil)
      let placed = try await install(["PREFIX": prefix, "SYSCONFDIR": folder.file("settings")])
      #expect(placed.status == 0, placed.summary)
      #expect(content(folder.file("settings/pam.d/signet")) != nil)
    }

    private static let analyzer = "/usr/bin/systemd-analyze"
    private static let canAnalyze =
      FileManager.default.isExecutableFile(atPath: analyzer)
      || ContinuousIntegration.isHere

    @Test("systemd accepts the units", .enabled(if: canAnalyze, "needs systemd-analyze"))
    func units() async throws {
      let installed = try await placedPrefix() + "/lib/systemd/user"
      let units = ["service", "socket"].map { folder.file("signet-agent.\($0)") }
      for unit in units {
        let name = URL(filePath: unit).lastPathComponent
        try FileManager.default.copyItem(atPath: "\(installed)/\(name)", toPath: unit)
      }
      let command = ChildCommand(
        [Self.analyzer, "--user", "--man=no", "verify"] + units,
        environment: ProcessInfo.processInfo.environment.merging(
          ["XDG_RUNTIME_DIR": folder.path, "SYSTEMD_LOG_LEVEL": "warning"]
        ) { $1 })
      let result = try await command.finish()
      #expect(result.status == 0 && !result.summary.rawValue.contains("signet-agent"), result.summary)
      // The control: an error is found.
      let wrong = try #require(content(units[0])).replacing("LimitCORE=0", with: "LimitCores=0")
      try Data(wrong.utf8).write(to: URL(filePath: units[0]))
      let found = try await command.finish()
      #expect(found.summary.rawValue.contains("LimitCores"), found.summary)
    }
  }
#endif
