public import SignetCrypto
import SignetJSON
public import SignetOATH
public import SignetPolicy
public import SignetVault

/// The accounts on this device that were imported, beside the containers that servers have provisioned.
///
/// They lie in the vault like everything else, in a domain of their own: the device alone opens it, or the device with a
/// password. Reading files and QR codes of other authenticators is ``SignetOATH/AccountFile``'s:
///
/// ```swift
/// let imported = try AccountFile.read(bytes)
/// let result = try await device.accounts.add(imported.accounts)
/// let code = try await device.accounts.code(of: result.added[0].id)
/// ```
public struct Accounts: Sendable {
  let device: Device

  private var vault: Vault { device.vault }

  /// What a password for the accounts has to be: 8 to 128 characters, no word of the dictionary.
  public static let passwordPolicy: PasswordPolicy = {
    do {
      return try PasswordPolicy(
        minimumLength: 8, maximumLength: 128, allowsSequences: true, checksDictionary: true)
    } catch { preconditionFailure("the rules contradict each other") }
  }()

  /// What wrong passwords cost: waits that double, from 2 seconds to half an hour, and never the accounts, which no server can
  /// make anew.
  static let lockPolicy = LockPolicy.delay(seconds: 2, counter: 11)

  // MARK: Protection

  /// Whether a password opens them; the device alone does until ``setPassword(_:by:)`` was called.
  ///
  /// - Throws: ``SignetFailure``.
  public func havePassword() async throws(SignetFailure) -> Bool {
    guard let id = try await vaulted(await vault.accountsContainer()) else { return false }
    return try await vaulted(await vault.domains(of: id)).contains { $0.slot == .password }
  }

  /// Sets or changes the password that opens them; `nil` takes it away, and the device alone opens them.
  ///
  /// - Parameters:
  ///   - password: The next password: UTF-8 as typed. It is checked with ``passwordPolicy`` and the device's password checks.
  ///   - present: The present password, where there is one.
  /// - Returns: What became of it.
  /// - Throws: ``SignetFailure``: `passwordRefused`, `passwordRequired`, `wrongPassword`.
  @discardableResult
  public func setPassword(
    _ password: SharedSecretBox?, by present: SharedSecretBox? = nil
  ) async throws(SignetFailure) -> PasswordChangeOutcome {
    var protection = DomainDraft.Protection.device
    if let password {
      let violations: [PasswordViolation]
      do {
        violations = try await Self.passwordPolicy.violations(
          of: password, purpose: .enrolment, checks: device.passwordChecks)
      } catch { throw .dictionary(error) }
      guard violations.isEmpty else { throw .passwordRefused(violations) }
      protection = .password(password, Self.lockPolicy)
    }
    if try await vaulted(await vault.accountsContainer()) == nil {
      _ = try await vaulted(
        await vault.makeAccountsContainer(protection: protection, created: device.clock.now * 1000))
      // Unless another process has made them just before: for the device alone, or with a password that is not this one.
      if try await havePassword() == (password != nil) {
        _ = try await open(by: password)
        return .done
      }
    }
    guard let unlocked = try await open(by: present) else { return .done }
    return PasswordChangeOutcome(try await vaulted(await vault.setProtection(protection, of: unlocked)))
  }

  // MARK: Accounts

  /// All accounts, by issuer and name.
  ///
  /// - Parameter password: What opens them, where they have one: UTF-8 as typed.
  /// - Returns: The accounts; none where nothing was imported.
  /// - Throws: ``SignetFailure``: `passwordRequired`, `wrongPassword`, `waiting`.
  public func list(by password: SharedSecretBox? = nil) async throws(SignetFailure) -> [Account] {
    guard let records = try await opened(by: password) else { return [] }
    return try await vaulted(Self.accounts(in: records)).map { Account($0.record, $0.id) }.sorted {
      ($0.issuer.lowercased(), $0.name.lowercased(), $0.id.description)
        < ($1.issuer.lowercased(), $1.name.lowercased(), $1.id.description)
    }
  }

  /// Adds accounts, all of them or none; one that is there already with the same secret and parameters is not added again.
  ///
  /// - Parameters:
  ///   - accounts: What was read.
  ///   - isExportable: Whether they may leave this device again.
  ///   - policies: What the device has to be like, now and whenever they are used, beside what an account itself demands (the
  ///     parameter `policies` of its URI). One that is there already keeps its policies, and gets those that it does not have.
  ///   - password: What opens those that are there, where they have one.
  /// - Returns: What was added, and what was there.
  /// - Throws: ``SignetFailure``: `accountPolicy` and `accountPolicyBroken`; nothing was added then.
  public func add(
    _ accounts: [OTPAccount], exportable isExportable: Bool = true,
    policies: AccountPolicySet = AccountPolicySet(), by password: SharedSecretBox? = nil
  ) async throws(SignetFailure) -> AddedAccounts {
    var own: [AccountPolicySet] = []
    for account in accounts { own.append(try account.policies(beside: policies)) }
    for set in Set(own) { try await device.requireCompliance(with: set) }
    let unlocked = try await openMaking(by: password)
    let now = device.clock.now
    let ids = accounts.map { _ in Account.ID(from: device.random) }
    // Before the accounts are there, so that none is without its policies for a moment.
    for (id, set) in zip(ids, own) where !set.isEmpty { try await merge(set, into: [id]) }
    let (result, known) = try await vaulted(
      await vault.changeRecords(of: unlocked) { (records) throws(VaultFailure) in
        var result = AddedAccounts()
        var known: [(id: Account.ID, policies: AccountPolicySet)] = []
        // Looked up rather than compared with each: nobody else can write meanwhile.
        let key = HMACKey(SecretBytes.random(byteCount: 32), .sha256)
        var present: [CodeSource: Account] = [:]
        for (id, record) in try Self.accounts(in: records) {
          let source = record.account.codeSource(under: key)
          if present[source] == nil { present[source] = Account(record, id) }
        }
        for ((account, id), set) in zip(zip(accounts, ids), own) {
          let source = account.codeSource(under: key)
          if let same = present[source] {
            result.duplicates.append(same)
            known.append((same.id, set))
            continue
          }
          let record = AccountRecord(account, isExportable: isExportable, imported: now)
          try records.set(AccountRecord.name(id), to: record.bytes)
          if let counter = account.kind.counter {
            try records.set(AccountRecord.counterName(id), to: SecretBytes(counter: counter))
          }
          let added = Account(record, id)
          present[source] = added
          result.added.append(added)
        }
        return (result, known)
      })
    let added = Set(result.added.map(\.id))
    for (id, set) in zip(ids, own) where !set.isEmpty && !added.contains(id) { try await forgetNotes(of: id) }
    for (id, set) in known where !set.isEmpty { try await merge(set, into: parts(of: id, by: password)) }
    return result
  }

  /// Deletes an account with its secret, for good.
  ///
  /// - Parameters:
  ///   - id: Which one.
  ///   - password: What opens them, where they have one.
  /// - Throws: ``SignetFailure/noSuchAccount``.
  public func delete(_ id: Account.ID, by password: SharedSecretBox? = nil) async throws(SignetFailure) {
    guard let unlocked = try await open(by: password) else { throw .noSuchAccount }
    let wasThere = try await vaulted(
      await vault.changeRecords(of: unlocked) { (records) throws(VaultFailure) in
        guard records.names.contains(AccountRecord.name(id)) else { return false }
        records.remove(AccountRecord.name(id))
        records.remove(AccountRecord.counterName(id))
        return true
      })
    guard wasThere else { throw .noSuchAccount }
    try await forgetNotes(of: id)
  }

  /// Deletes all accounts with their secrets and their password, for good, also where nothing opens them any more.
  ///
  /// - Throws: ``SignetFailure``; what was changed from outside, ``Device/deleteContainer(_:reason:by:)`` deletes.
  public func deleteAll() async throws(SignetFailure) {
    guard let id = try await vaulted(await vault.accountsContainer()) else { return }
    try await vaulted(await vault.deleteContainer(id))
  }

  /// Whether a container of the vault is where the accounts lie, and no server's.
  ///
  /// - Parameter container: The name of a container, such as that of a ``LostCredential``.
  /// - Returns: Whether it is.
  /// - Throws: ``SignetFailure``.
  public func lie(in container: ContainerID) async throws(SignetFailure) -> Bool {
    try await vaulted(await vault.accountsContainer()) == container
  }

  /// Gives an account another issuer or name.
  ///
  /// - Parameters:
  ///   - id: Which one.
  ///   - issuer: Who it is with; `nil` leaves it as it is.
  ///   - name: Whose it is; `nil` leaves it as it is.
  ///   - password: What opens them, where they have one.
  /// - Returns: The account as it is now.
  /// - Throws: ``SignetFailure``: `noSuchAccount`, `interchange` for a text that no account can have.
  public func rename(
    _ id: Account.ID, issuer: String? = nil, name: String? = nil, by password: SharedSecretBox? = nil
  ) async throws(SignetFailure) -> Account {
    guard let unlocked = try await open(by: password) else { throw .noSuchAccount }
    try await requireUnlocked(id)
    let changed = try await vaulted(
      await vault.changeRecords(of: unlocked) {
        (records) throws(VaultFailure) -> Result<Account, SignetFailure> in
        guard let present = try Self.account(id, in: records) else { return .failure(.noSuchAccount) }
        let renamed: OTPAccount
        do throws(InterchangeFailure) {
          renamed = try present.account.renamed(issuer: issuer, name: name)
        } catch { return .failure(.interchange(error)) }
        let record = AccountRecord(renamed, isExportable: present.isExportable, imported: present.imported)
        try records.set(AccountRecord.name(id), to: record.bytes)
        return .success(Account(record, id))
      })
    return try changed.get()
  }

  // MARK: Codes

  /// The code of an account for now, or its next one where codes go by a counter.
  ///
  /// A counter is one further, and on the disk, before this returns: no two calls, in whatever process, get one code.
  ///
  /// - Parameters:
  ///   - id: Which account.
  ///   - password: What opens them, where they have one.
  /// - Returns: The code.
  /// - Throws: ``SignetFailure``: `noSuchAccount`, `challengeWanted`, `passwordRequired`, `wrongPassword`.
  public func code(
    of id: Account.ID, by password: SharedSecretBox? = nil
  ) async throws(SignetFailure) -> AccountCode {
    guard let unlocked = try await open(by: password) else { throw .noSuchAccount }
    let found = try await vaulted(Self.account(id, in: unlocked.openedRecords()))
    guard let record = found else { throw .noSuchAccount }
    try await requireUnlocked(id)
    let account = record.account
    switch account.kind {
    case .totp(let period, let start):
      let code: TimedCode
      do throws(OATHFailure) {
        let totp = try account.secret.withSecret { (secret) throws(OATHFailure) in
          try TOTP(
            secret: secret, algorithm: account.algorithm, digits: account.digits, period: period, start: start
          )
        }
        code = try totp.code(at: device.clock.now)
      } catch { throw .interchange(.oath(error)) }
      return AccountCode(code: code.code, counter: code.counter, validity: code.validFrom..<code.validUntil)
    case .hotp:
      let hotp: HOTP
      do throws(OATHFailure) { hotp = try account.hotp() } catch { throw .interchange(.oath(error)) }
      let counter = try await nextCounter(of: id, in: unlocked)
      return AccountCode(code: hotp.code(at: counter), counter: counter, validity: nil)
    case .ocra: throw .challengeWanted
    }
  }

  /// The answer of an account to a challenge, or its plain signature of one (RFC 6287 sections 7.1 and 7.3).
  ///
  /// Where the suite has a counter, it is one further, and on the disk, before this returns, as with ``code(of:by:)``. What
  /// is refused uses none up. Neither challenge nor PIN is kept.
  ///
  /// - Parameters:
  ///   - id: Which account.
  ///   - challenge: What was typed, scanned or received.
  ///   - pin: The PIN, where the suite wants one: UTF-8 as typed.
  ///   - session: What the suite wants of the session.
  ///   - password: What opens the accounts, where they have one.
  /// - Returns: The answer.
  /// - Throws: ``SignetFailure``: `ocra`, `noSuchAccount`, `challengeNotWanted`, `passwordRequired`, `wrongPassword`.
  public func response(
    of id: Account.ID, to challenge: String, pin: SharedSecretBox? = nil, session: [UInt8]? = nil,
    by password: SharedSecretBox? = nil
  ) async throws(SignetFailure) -> AccountResponse {
    guard let unlocked = try await open(by: password) else { throw .noSuchAccount }
    let found = try await vaulted(Self.account(id, in: unlocked.openedRecords()))
    guard let account = found?.account else { throw .noSuchAccount }
    try await requireUnlocked(id)
    guard case .ocra(let suite, let lengths, _) = account.kind else { throw .challengeNotWanted }
    var input = OCRAInput(
      counter: suite.hasCounter ? 0 : nil, pin: pin, session: session,
      unixTime: suite.timeStep == nil ? nil : device.clock.now)
    let (ocra, checked, response): (OCRA, OCRAChallenge, String)
    do throws(OCRAFailure) {
      checked = try OCRAChallenge(challenge, for: suite, lengths: lengths)
      ocra = try account.secret.withSecret { (secret) throws(OCRAFailure) in
        try OCRA(secret: secret, suite: suite)
      }
      // With a counter that is not its own: whatever is refused is refused before one is taken.
      response = try ocra.response(to: checked, input)
    } catch { throw .ocra(error) }
    guard suite.hasCounter else { return AccountResponse(response: response, counter: nil) }
    let counter = try await nextCounter(of: id, in: unlocked)
    input.counter = counter
    do throws(OCRAFailure) {
      return AccountResponse(response: try ocra.response(to: checked, input), counter: counter)
    } catch { throw .ocra(error) }
  }

  private func nextCounter(
    of id: Account.ID, in unlocked: borrowing UnlockedDomain
  ) async throws(SignetFailure) -> UInt64 {
    do throws(VaultFailure) {
      return try await vault.advanceCounter(AccountRecord.counterName(id), in: unlocked)
    } catch {
      // Deleted meanwhile.
      if case .noSuchRecord = error { throw .noSuchAccount }
      throw SignetFailure(error)
    }
  }

  // MARK: Export

  /// Accounts with their secrets and counters, to be written for another authenticator.
  ///
  /// Both then have the same secret, and counters go apart with the first code.
  ///
  /// - Parameters:
  ///   - ids: Which ones; `nil` for all.
  ///   - password: What opens them, where they have one.
  /// - Returns: The accounts that may leave, in the order of `ids`, and those that may not.
  /// - Throws: ``SignetFailure/noSuchAccount``.
  public func export(
    _ ids: [Account.ID]? = nil, by password: SharedSecretBox? = nil
  ) async throws(SignetFailure) -> (accounts: [OTPAccount], refused: [Account]) {
    guard let records = try await opened(by: password) else {
      if let ids, !ids.isEmpty { throw .noSuchAccount }
      return ([], [])
    }
    var (accounts, refused): ([OTPAccount], [Account]) = ([], [])
    for id in ids ?? Self.ids(in: records) {
      guard let found = try await vaulted(Self.account(id, in: records)) else { throw .noSuchAccount }
      if found.isExportable {
        try await requireUnlocked(id)
        accounts.append(found.account)
      } else {
        refused.append(Account(found, id))
      }
    }
    return (accounts, refused)
  }

  // MARK: Opening

  /// The open domain; `nil` as long as nothing was imported.
  func open(by password: SharedSecretBox?) async throws(SignetFailure) -> UnlockedDomain? {
    guard let id = try await vaulted(await vault.accountsContainer()) else { return nil }
    guard try await havePassword() else {
      return try await vaulted(await vault.open(Vault.accountsDomain, of: id, with: .device))
    }
    guard let password else { throw .passwordRequired }
    return try await vaulted(
      await vault.open(Vault.accountsDomain, of: id, with: .password(password.withSecret { $0.copy() })))
  }

  /// The open domain, made for the device alone where there is none yet.
  func openMaking(by password: SharedSecretBox?) async throws(SignetFailure) -> UnlockedDomain {
    if try await vaulted(await vault.accountsContainer()) == nil {
      _ = try await vaulted(
        await vault.makeAccountsContainer(protection: .device, created: device.clock.now * 1000))
    }
    guard let unlocked = try await open(by: password) else { throw .noSuchAccount }
    return unlocked
  }

  /// The records of the open domain; `nil` as long as nothing was imported.
  func opened(by password: SharedSecretBox?) async throws(SignetFailure) -> OpenRecords? {
    guard let unlocked = try await open(by: password) else { return nil }
    return try await vaulted(unlocked.openedRecords())
  }

  private static func ids(in records: OpenRecords) -> [Account.ID] {
    records.names.compactMap(AccountRecord.id(ofRecord:))
  }

  static func accounts(
    in records: OpenRecords
  ) throws(VaultFailure) -> [(id: Account.ID, record: AccountRecord)] {
    var found: [(id: Account.ID, record: AccountRecord)] = []
    for id in ids(in: records) {
      if let record = try account(id, in: records) { found.append((id, record)) }
    }
    return found
  }

  static func account(
    _ id: Account.ID, in records: OpenRecords
  ) throws(VaultFailure) -> AccountRecord? {
    guard let secret = try records.secret(AccountRecord.name(id)) else { return nil }
    return try AccountRecord(secret, counter: records.secret(AccountRecord.counterName(id))?.counter)
  }
}

extension Device {
  /// The accounts that were imported.
  public var accounts: Accounts { Accounts(device: self) }
}

extension SecretBytes {
  /// A counter as a record: 8 bytes, big-endian.
  init(counter: UInt64) {
    self.init(byteCount: 8) { output in
      for shift in stride(from: 56, through: 0, by: -8) {
        output.append(UInt8(truncatingIfNeeded: counter >> UInt64(shift)))
      }
    }
  }

  /// The counter of a record; `nil` for what is none.
  fileprivate var counter: UInt64? {
    withUInt8Span { bytes in
      guard bytes.count == 8 else { return nil }
      return (0..<8).reduce(UInt64(0)) { $0 << 8 | UInt64(bytes[$1]) }
    }
  }
}

extension OTPAccount {
  /// What the account itself demands of a device, and what is demanded beside that.
  ///
  /// - Throws: ``SignetFailure``: `accountPolicy`, `interchange`.
  fileprivate func policies(beside others: AccountPolicySet) throws(SignetFailure) -> AccountPolicySet {
    let own: JSONObject?
    do throws(InterchangeFailure) { own = try policies() } catch { throw .interchange(error) }
    guard var own else { return others }
    for member in others.json.members where !own.contains(member.name) { own[member.name] = member.value }
    do throws(AccountPolicyFailure) { return try AccountPolicySet(own) } catch { throw .accountPolicy(error) }
  }
}
