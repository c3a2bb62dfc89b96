/// An account that was found and not read, or was to be written and was not.
public struct SkippedAccount: Sendable, Hashable {
  /// Where it is, from 1.
  public let position: Int
  /// What it is called, as far as that could be read.
  public let title: String
  /// Why.
  public let reason: InterchangeFailure
}

/// Accounts that were read, and what was not.
public struct ImportedAccounts: Sendable {
  /// The most accounts that are read at once, whatever the format, those that are skipped included.
  public static let maximumCount = 20_000

  /// What the accounts come from.
  public let format: InterchangeFormat
  /// The accounts, in the order of the file.
  public private(set) var accounts: [OTPAccount] = []
  /// What was skipped, in the order of the file.
  public private(set) var skipped: [SkippedAccount] = []

  init(_ format: InterchangeFormat) { self.format = format }

  private var count: Int { accounts.count + skipped.count }

  /// Reads one entry; one that cannot be read does not keep the others from being read.
  ///
  /// - Throws: ``InterchangeFailure/tooManyAccounts(limit:)``.
  mutating func read(
    title: @autoclosure () -> String, _ account: () throws(InterchangeFailure) -> OTPAccount
  ) throws(InterchangeFailure) {
    guard count < Self.maximumCount else { throw .tooManyAccounts(limit: Self.maximumCount) }
    do throws(InterchangeFailure) { accounts.append(try account()) } catch {
      skipped.append(SkippedAccount(position: count + 1, title: title(), reason: error))
    }
  }

  /// Takes in what was read elsewhere.
  ///
  /// - Throws: ``InterchangeFailure/tooManyAccounts(limit:)``.
  mutating func append(_ others: ImportedAccounts) throws(InterchangeFailure) {
    guard others.count <= Self.maximumCount - count else {
      throw .tooManyAccounts(limit: Self.maximumCount)
    }
    let offset = count
    accounts += others.accounts
    skipped += others.skipped.map {
      SkippedAccount(position: $0.position + offset, title: $0.title, reason: $0.reason)
    }
  }
}
