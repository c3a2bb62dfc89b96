#if os(Linux)
  import BenchReport
  import SignetCrypto
  import SignetPolicy
  import SignetSQLite
  import SignetTPM
  import SignetTesting
  import SignetVault

  extension Bench {
    /// Opening a vault's domain on a TPM, compared with the minimum work of such an opening.
    ///
    /// All contenders take turns in a rotating order. Each derives a key from a password first, so that caches, disk and other
    /// processes are in the same state for all. Each has a separate TPM, since a swtpm serves one connection at a time.
    func unlockingOnTPM(_ report: inout Report) async throws {
      let folder = try workFolder()
      let commands = TimedLink.Record()
      let (simulator, other) = (try SimulatedTPM(), try SimulatedTPM())
      // With the conversation of the previous unlock, and with one that begins after the derivation, as in a command.
      let kept = try await PasswordVault(
        folder.path + "/kept",
        try TPMKeystore.timed(
          simulator.address, TPMTimeLimits(idle: .seconds(1), stretch: .seconds(600)), commands))
      let anew = try await PasswordVault(
        folder.path + "/anew",
        TPMKeystore(TPMAddress(other.address), limits: TPMTimeLimits(idle: .milliseconds(5))))
      let software = try await PasswordVault(
        folder.path + "/software", SoftwareKeystore(directory: folder.path + "/software"))
      _ = try await PasswordVault(folder.path + "/bare", SoftwareKeystore(directory: folder.path + "/bare"))
      let bare = try BareUnlock(databasePath: folder.path + "/bare/vault.sqlite")

      var times = UnlockTimes()
      _ = try await kept.open()
      for round in 0..<options.times(200) {
        // New pages of a log take longer than existing ones, so each log is reset as after a start.
        if round % 20 == 0 {
          for name in ["kept", "anew", "software", "bare"] {
            try Database(path: "\(folder.path)/\(name)/vault.sqlite", mode: .readWrite).checkpoint()
          }
        }
        for place in 0..<4 {
          switch (place + round) % 4 {
          case 0:
            _ = commands.take()
            times.kept.append(try await kept.open())
            let sent = commands.take()
            times.commandCounts.append(Double(sent.count))
            times.commands.append(sent.reduce(0) { $0 + Double($1.duration) } / 1e6)
          case 1:
            try kept.derive()
            times.bare.append(Double(try bare.unlock()) / 1e6)
            times.bareUnsealing.append(Double(try bare.unseal()) / 1e6)
          case 2: times.software.append(try await software.open())
          default: times.anew.append(try await anew.open())
          }
        }
        times.bareCommit.append(Double(try bare.store()) / 1e6)
      }
      report.add(times.rows)
    }
  }

  /// The measured times, in milliseconds.
  private struct UnlockTimes {
    var kept: [Double] = []
    var anew: [Double] = []
    var software: [Double] = []
    var bare: [Double] = []
    var bareUnsealing: [Double] = []
    var bareCommit: [Double] = []
    var commands: [Double] = []
    var commandCounts: [Double] = []

    var rows: [ReportRow] {
      let (kept, anew, software) = (Samples(kept).median, Samples(anew).median, Samples(software).median)
      let (bare, unsealing) = (Samples(bare).median, Samples(bareUnsealing).median)
      let least =
        "NV_Read, commit, NV_Increment; Load, PolicySecret, PolicyPassword, Unseal, Flush, commit: p50 \(bare.formatted()) ms"
      let little =
        "software keystore p50 \(software.formatted()) ms + bare Load, Unseal, Flush p50 \(unsealing.formatted()) ms"
      func row(_ name: String, _ value: Double, _ other: String, _ peer: Double) -> ReportRow {
        ReportRow(
          name: "vault unlock minus KDF (swtpm)\(name), p50", value: value, unit: "ms", comparedWith: other,
          ratio: peer / value)
      }
      var near = row(", beside the same bare", kept, least, bare)
      near.goal = .ratioAtLeast(1 / 1.5)
      var far = row(", beside a software keystore", kept, little, software + unsealing)
      far.goal = .valueBelow(10)
      return [
        near, far,
        row(", in a conversation of its own, beside the same bare", anew, least, bare),
        ReportRow(
          name: "TPM commands of an unlock, p50 of their sum", value: Samples(commands).median, unit: "ms",
          comparedWith:
            "a bare commit, of which an unlock makes two: p50 \(Samples(bareCommit).median.formatted()) ms",
          notes: "\(Int(Samples(commandCounts).median)) commands"),
      ]
    }
  }

  /// A vault with one container, whose domain a password opens.
  private struct PasswordVault {
    private let vault: Vault
    private let id: LocalContainerID
    private let password = SharedSecretBox(SecretBytes(copying: Array("correct horse".utf8)))

    init(_ directory: String, _ keystore: any HardwareKeystore) async throws {
      vault = try Vault(directory: directory, keystore: keystore, cost: .fixed(.minimum))
      let records = ["signing-key", "otp-secret"].map {
        RecordDraft(name: $0, secret: SharedSecretBox(SecretBytes.random(byteCount: 32)))
      }
      let domain = DomainDraft(
        name: "user", protection: .password(password, .lock(limit: 5)), records: records)
      id = try await vault.addContainer(
        ContainerDraft(
          attributes: ContainerAttributes(userID: "alice", server: "localhost/main", name: "", serverID: ""),
          created: 0, domains: [domain]))
      try await vault.confirmContainer(id)
    }

    /// Opens the domain; returns the milliseconds without the derivation.
    func open() async throws -> Double {
      let timing = try await vault.open(
        "user", of: id, with: .password(password.withSecret { $0.copy() })
      ).timing
      return timing.overhead / .milliseconds(1)
    }

    /// Derives a key like the opening does.
    func derive() throws {
      try password.withSecret { password in
        keep(
          try Argon2id.minimum.derive(
            password: password, salt: [UInt8](repeating: 1, count: 16), byteCount: 32))
      }
    }
  }
#endif
