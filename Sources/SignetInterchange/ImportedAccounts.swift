/// An account that was not imported or not exported.
public struct SkippedAccount: Sendable, Hashable {
  /// The position in the file or in the list of accounts, from 1.
  public let position: Int
  /// The account's name, as far as it is readable.
  public let title: String
  /// The reason why it was skipped.
  public let reason: InterchangeFailure
}

/// The result of an import: the accounts and the skipped entries.
public struct ImportedAccounts: Sendable {
  /// The largest number of entries in one import, skipped ones included.
  public static let maximumCount = 20_000

  /// The format of the imported file.
  public let format: InterchangeFormat
  /// The accounts, in the order of the file.
  public private(set) var accounts: [OTPAccount] = []
  /// The skipped entries, in the order of the file.
  public private(set) var skipped: [SkippedAccount] = []

  init(_ format: InterchangeFormat) { self.format = format }

  private var count: Int { accounts.count + skipped.count }

  /// Reads one entry; if that fails, the entry is skipped and the import continues.
  ///
  /// - Throws: ``InterchangeFailure/tooManyAccounts(limit:)`` if the limit is reached.
  mutating func read(
    title: @autoclosure () -> String, _ account: () throws(InterchangeFailure) -> OTPAccount
  ) throws(InterchangeFailure) {
    guard count < Self.maximumCount else { throw .tooManyAccounts(limit: Self.maximumCount) }
    do throws(InterchangeFailure) { accounts.append(try account()) } catch {
      skipped.append(SkippedAccount(position: count + 1, title: title(), reason: error))
    }
  }

  /// Appends another import, with its positions shifted.
  ///
  /// - Throws: ``InterchangeFailure/tooManyAccounts(limit:)`` if both together exceed the limit.
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
