public import SignetCrypto
public import SignetInterchange
import SignetJSON
import SignetOATH
public import SignetPolicy
public import SignetVault

/// The imported and enrolled accounts on this device, in addition to the containers that servers have provisioned.
///
/// They are in a separate domain of the vault, which the device opens alone or together with a password.
/// ``SignetOATH/AccountFile`` reads files and QR codes of other authenticators:
///
/// ```swift
/// let imported = try AccountFile.read(bytes)
/// let result = try await device.accounts.add(imported.accounts)
/// let code = try await device.accounts.code(of: result.added[0].id)
/// ```
public struct Accounts: Sendable {
  let device: Device

  private var vault: Vault { device.vault }

  /// The rules for a password of the accounts: 8 to 128 characters and no word of the dictionary.
  public static let passwordPolicy: PasswordPolicy = {
    do {
      return try PasswordPolicy(
        minimumLength: 8, maximumLength: 128, allowsSequences: true, checksDictionary: true)
    } catch { preconditionFailure("the rules contradict each other") }
  }()

  /// The lock policy for wrong passwords: waits that double from 2 seconds to half an hour.
  ///
  /// The accounts are never erased, because no server can provision them again.
  static let lockPolicy = LockPolicy.delay(seconds: 2, counter: 11)

  // MARK: Protection

  /// Returns true if the accounts have a password; without ``setPassword(_:by:)`` the device opens them alone.
  ///
  /// - Throws: ``SignetError``.
  public func havePassword() async throws(SignetError) -> Bool {
    guard let id = try await vaulted(await vault.accountsContainer()) else { return false }
    return try await vaulted(await vault.domains(of: id)).contains { $0.slot == .password }
  }

  /// Sets, changes or removes the password of the accounts; without one the device opens them alone.
  ///
  /// - Parameters:
  ///   - password: The new password, UTF-8 as typed, or `nil` to remove it. It is checked with ``passwordPolicy`` and the
  ///     device's password checks.
  ///   - present: The current password, if there is one.
  /// - Returns: The outcome of the change.
  /// - Throws: ``SignetError``: `passwordRefused`, `passwordRequired`, `wrongPassword`.
  @discardableResult
  public func setPassword(
    _ password: SharedSecretBox?, by present: SharedSecretBox? = nil
  ) async throws(SignetError) -> PasswordChangeOutcome {
    var protection = DomainDraft.Protection.device
    if let password {
      let violations = try await Self.passwordPolicy.violations(
        of: password, purpose: .enrolment, checks: device.passwordChecks)
      guard violations.isEmpty else { throw .passwordRefused(violations) }
      protection = .password(password, Self.lockPolicy)
    }
    if try await vaulted(await vault.accountsContainer()) == nil {
      _ = try await vaulted(
        await vault.makeAccountsContainer(protection: protection, created: device.clock.now * 1000))
      // Another process may have created the container first: with the other protection (false), or with another password
      // (`open` throws).
      if try await havePassword() == (password != nil) {
        _ = try await open(by: password)
        return .done
      }
    }
    guard let unlocked = try await open(by: present) else { return .done }
    return PasswordChangeOutcome(try await vaulted(await vault.setProtection(protection, of: unlocked)))
  }

  // MARK: Accounts

  /// Returns all accounts, ordered by issuer and name.
  ///
  /// - Parameter password: The password of the accounts, if they have one: UTF-8 as typed.
  /// - Returns: The accounts; empty if nothing was imported.
  /// - Throws: ``SignetError``: `passwordRequired`, `wrongPassword`, `waiting`.
  public func list(by password: SharedSecretBox? = nil) async throws(SignetError) -> [Account] {
    guard let records = try await opened(by: password) else { return [] }
    return try await vaulted(Self.accounts(in: records)).map { Account($0.record, $0.id) }.sorted {
      ($0.issuer.lowercased(), $0.name.lowercased(), $0.id.description)
        < ($1.issuer.lowercased(), $1.name.lowercased(), $1.id.description)
    }
  }

  /// Adds accounts, all or none; an account with the same secret and parameters as an existing one is not added again.
  ///
  /// - Parameters:
  ///   - accounts: The accounts to add.
  ///   - isExportable: True if their secrets may be exported from this device.
  ///   - policies: Policies for the device, now and at each use, in addition to those of an account itself (the parameter
  ///     `policies` of its URI). An existing account keeps its policies and receives the missing ones.
  ///   - password: The password of the existing accounts, if they have one.
  /// - Returns: The added and the existing accounts.
  /// - Throws: ``SignetError``: `accountPolicy` and `accountPolicyBroken`; nothing is added then.
  public func add(
    _ accounts: [OTPAccount], exportable isExportable: Bool = true,
    policies: AccountPolicySet = AccountPolicySet(), by password: SharedSecretBox? = nil
  ) async throws(SignetError) -> AddedAccounts {
    var policySets: [AccountPolicySet] = []
    for account in accounts { policySets.append(try account.policies(beside: policies)) }
    for set in Set(policySets) { try await device.requireCompliance(with: set) }
    let unlocked = try await openOrCreate(by: password)
    let now = device.clock.now
    let ids = accounts.map { _ in Account.ID(from: device.random) }
    // The policies are stored before the accounts, so no account exists without them.
    for (id, set) in zip(ids, policySets) where !set.isEmpty { try await merge(set, into: [id]) }
    let (result, duplicates) = try await vaulted(
      await vault.changeRecords(of: unlocked) { (records) throws(VaultFailure) in
        var result = AddedAccounts()
        var duplicates: [(id: Account.ID, policies: AccountPolicySet)] = []
        // A keyed hash allows a lookup instead of a comparison with each account; no other process can write in this transaction.
        let key = HMACKey(SecretBytes.random(byteCount: 32), .sha256)
        var present: [OTPAccountFingerprint: Account] = [:]
        for (id, record) in try Self.accounts(in: records) {
          let source = record.account.fingerprint(under: key)
          if present[source] == nil { present[source] = Account(record, id) }
        }
        for ((account, id), set) in zip(zip(accounts, ids), policySets) {
          let source = account.fingerprint(under: key)
          if let same = present[source] {
            result.duplicates.append(same)
            duplicates.append((same.id, set))
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
        return (result, duplicates)
      })
    let added = Set(result.added.map(\.id))
    for (id, set) in zip(ids, policySets) where !set.isEmpty && !added.contains(id) {
      try await removeState(of: id)
    }
    for (id, set) in duplicates where !set.isEmpty { try await merge(set, into: parts(of: id, by: password)) }
    return result
  }

  /// Deletes an account with its secret, permanently.
  ///
  /// - Parameters:
  ///   - id: The account.
  ///   - password: The password of the accounts, if they have one.
  /// - Throws: ``SignetError/noSuchAccount``.
  public func delete(_ id: Account.ID, by password: SharedSecretBox? = nil) async throws(SignetError) {
    guard let unlocked = try await open(by: password) else { throw .noSuchAccount }
    let existed = try await vaulted(
      await vault.changeRecords(of: unlocked) { (records) throws(VaultFailure) in
        guard records.names.contains(AccountRecord.name(id)) else { return false }
        records.remove(AccountRecord.name(id))
        records.remove(AccountRecord.counterName(id))
        return true
      })
    guard existed else { throw .noSuchAccount }
    try await removeState(of: id)
  }

  /// Deletes all accounts with their secrets and their password, permanently; this works even if they cannot be opened any more.
  ///
  /// - Throws: ``SignetError``. If the container was altered, ``Device/deleteContainer(_:reason:by:)`` deletes it.
  public func deleteAll() async throws(SignetError) {
    guard let id = try await vaulted(await vault.accountsContainer()) else { return }
    try await vaulted(await vault.deleteContainer(id))
  }

  /// Returns whether a container of the vault is the one for the accounts, not a container of a server.
  ///
  /// - Parameter container: The identifier of a container, such as that of a ``LostCredential``.
  /// - Returns: True if the container holds the accounts.
  /// - Throws: ``SignetError``.
  public func areStored(in container: LocalContainerID) async throws(SignetError) -> Bool {
    try await vaulted(await vault.accountsContainer()) == container
  }

  /// Changes the issuer or name of an account.
  ///
  /// - Parameters:
  ///   - id: The account.
  ///   - issuer: The new issuer; `nil` keeps the current one.
  ///   - name: The new name; `nil` keeps the current one.
  ///   - password: The password of the accounts, if they have one.
  /// - Returns: The changed account.
  /// - Throws: ``SignetError``: `noSuchAccount`, `interchange` for an invalid text.
  public func rename(
    _ id: Account.ID, issuer: String? = nil, name: String? = nil, by password: SharedSecretBox? = nil
  ) async throws(SignetError) -> Account {
    guard let unlocked = try await open(by: password) else { throw .noSuchAccount }
    try await requireUnlocked(id)
    let changed = try await vaulted(
      await vault.changeRecords(of: unlocked) {
        (records) throws(VaultFailure) -> Result<Account, SignetError> in
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

  /// Returns the current code of an account, or the next one of a counter-based account.
  ///
  /// The counter is incremented on the disk before this returns, so no two calls in any process return the same code.
  ///
  /// - Parameters:
  ///   - id: The account.
  ///   - password: The password of the accounts, if they have one.
  /// - Returns: The code.
  /// - Throws: ``SignetError``: `noSuchAccount`, `challengeRequired`, `passwordRequired`, `wrongPassword`.
  public func code(
    of id: Account.ID, by password: SharedSecretBox? = nil
  ) async throws(SignetError) -> AccountCode {
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
    case .ocra: throw .challengeRequired
    }
  }

  /// Returns the response of an account to a challenge, or its plain signature of one (RFC 6287 sections 7.1 and 7.3).
  ///
  /// If the suite has a counter, it is incremented on the disk before this returns, as in ``code(of:by:)``. A rejected
  /// input does not increment it. The challenge and the PIN are not stored.
  ///
  /// - Parameters:
  ///   - id: The account.
  ///   - challenge: The challenge as typed, scanned or received.
  ///   - pin: The PIN, if the suite requires one: UTF-8 as typed.
  ///   - session: The session information, if the suite requires it.
  ///   - password: The password of the accounts, if they have one.
  /// - Returns: The response.
  /// - Throws: ``SignetError``: `ocra`, `noSuchAccount`, `challengeNotSupported`, `passwordRequired`, `wrongPassword`.
  public func response(
    of id: Account.ID, to challenge: String, pin: SharedSecretBox? = nil, session: [UInt8]? = nil,
    by password: SharedSecretBox? = nil
  ) async throws(SignetError) -> AccountResponse {
    guard let unlocked = try await open(by: password) else { throw .noSuchAccount }
    let found = try await vaulted(Self.account(id, in: unlocked.openedRecords()))
    guard let account = found?.account else { throw .noSuchAccount }
    try await requireUnlocked(id)
    guard case .ocra(let suite, let lengths, _) = account.kind else { throw .challengeNotSupported }
    var input = OCRAInput(
      counter: suite.hasCounter ? 0 : nil, pin: pin, session: session,
      unixTime: suite.timeStep == nil ? nil : device.clock.now)
    let (ocra, checked, response): (OCRA, OCRAChallenge, String)
    do throws(OCRAFailure) {
      checked = try OCRAChallenge(challenge, for: suite, lengths: lengths)
      ocra = try account.secret.withSecret { (secret) throws(OCRAFailure) in
        try OCRA(secret: secret, suite: suite)
      }
      // A trial with a placeholder counter: an invalid input is rejected before the counter is incremented.
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
  ) async throws(SignetError) -> UInt64 {
    do throws(VaultFailure) {
      return try await vault.advanceCounter(AccountRecord.counterName(id), in: unlocked)
    } catch {
      // The account was deleted in the meantime.
      if case .noSuchRecord = error { throw .noSuchAccount }
      throw SignetError(error)
    }
  }

  // MARK: Export

  /// Returns accounts with their secrets and counters, for another authenticator.
  ///
  /// Both authenticators then have the same secret, and their counters diverge with the first code.
  ///
  /// - Parameters:
  ///   - ids: The accounts; `nil` for all.
  ///   - password: The password of the accounts, if they have one.
  /// - Returns: The exportable accounts, in the order of `ids`, and those that may not be exported.
  /// - Throws: ``SignetError/noSuchAccount``.
  public func export(
    _ ids: [Account.ID]? = nil, by password: SharedSecretBox? = nil
  ) async throws(SignetError) -> (accounts: [OTPAccount], refused: [Account]) {
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

  /// Opens the domain of the accounts; `nil` if nothing was imported yet.
  func open(by password: SharedSecretBox?) async throws(SignetError) -> UnlockedDomain? {
    guard let id = try await vaulted(await vault.accountsContainer()) else { return nil }
    guard try await havePassword() else {
      return try await vaulted(await vault.open(Vault.accountsDomain, of: id, with: .device))
    }
    guard let password else { throw .passwordRequired }
    return try await vaulted(
      await vault.open(Vault.accountsDomain, of: id, with: .password(password.withSecret { $0.copy() })))
  }

  /// Opens the domain of the accounts and creates it without a password if it is missing.
  func openOrCreate(by password: SharedSecretBox?) async throws(SignetError) -> UnlockedDomain {
    if try await vaulted(await vault.accountsContainer()) == nil {
      _ = try await vaulted(
        await vault.makeAccountsContainer(protection: .device, created: device.clock.now * 1000))
    }
    guard let unlocked = try await open(by: password) else { throw .noSuchAccount }
    return unlocked
  }

  /// Reads the records of the accounts; `nil` if nothing was imported yet.
  func opened(by password: SharedSecretBox?) async throws(SignetError) -> OpenRecords? {
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
  /// The imported and enrolled accounts.
  public var accounts: Accounts { Accounts(device: self) }
}

extension SecretBytes {
  /// Encodes a counter as a record: 8 bytes, big-endian.
  init(counter: UInt64) {
    self.init(byteCount: 8) { output in
      for shift in stride(from: 56, through: 0, by: -8) {
        output.append(UInt8(truncatingIfNeeded: counter >> UInt64(shift)))
      }
    }
  }

  /// The counter in a record; `nil` unless it has 8 bytes.
  fileprivate var counter: UInt64? {
    withUInt8Span { bytes in
      guard bytes.count == 8 else { return nil }
      return (0..<8).reduce(UInt64(0)) { $0 << 8 | UInt64(bytes[$1]) }
    }
  }
}

extension OTPAccount {
  /// Returns the policies of the account itself, with additional ones; on a conflict the account's own apply.
  ///
  /// - Throws: ``SignetError``: `accountPolicy`, `interchange`.
  fileprivate func policies(beside others: AccountPolicySet) throws(SignetError) -> AccountPolicySet {
    let object: JSONObject?
    do throws(InterchangeFailure) { object = try policies() } catch { throw .interchange(error) }
    guard var object else { return others }
    for member in others.json.members where !object.contains(member.name) {
      object[member.name] = member.value
    }
    do throws(AccountPolicyFailure) { return try AccountPolicySet(object) } catch {
      throw .accountPolicy(error)
    }
  }
}
