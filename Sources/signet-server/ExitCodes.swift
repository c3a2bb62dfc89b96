import SignetDataDirectory
import SignetHTTPClient
import SignetImages
import SignetProtocol
import SignetServer
import SignetStorage
import SignetTerminal

enum ExitCodes {
  /// Returns the exit code of a failure that does not define its own.
  static func code(_ error: any Error) -> ExitCode {
    switch error {
    case let refusal as ServerRefusal: refusal.shown.exitCode
    case let failure as DataDirectoryFailure: code(failure)
    case let failure as TransportFailure: code(failure)
    case let failure as StorageFailure: code(failure)
    case let failure as QRFailure:
      if case .cannotWrite = failure { .cannotCreate } else { .failure }
    default: .failure
    }
  }

  /// Returns the exit code of a server's answer.
  static func code(_ problem: Problem.Code) -> ExitCode {
    switch problem {
    case .malformed, .lengthRequired, .mediaType, .tooLarge, .contentRefused: .dataError
    case .unauthorized, .forbidden, .containerUnknown, .containerAltered: .permissionDenied
    case .unknown: .noUser
    case .exists: .cannotCreate
    // `signet` uses the same codes for server errors.
    case .busy, .serverFailure, .transactionTooMany, .transactionWaiting: .temporaryFailure
    case .method: .protocolError
    default: .failure
    }
  }

  private static func code(_ failure: DataDirectoryFailure) -> ExitCode {
    switch failure {
    case .exists, .unwritable, .adminKey: .cannotCreate
    case .folderMissing, .noFolder, .fileMissing, .masterKeyMissing, .unreadable: .noInput
    case .ownedByAnother, .openToOthers: .permissionDenied
    case .storage(let failure): code(failure)
    case .servedElsewhere: .unavailable
    // Also for .fileOfSetting: the setting may be wrong.
    default: .configuration
    }
  }

  private static func code(_ failure: StorageFailure) -> ExitCode {
    switch failure {
    case .busy: .temporaryFailure
    case .full: .cannotCreate
    case .readOnly: .permissionDenied
    case .tooNew, .otherTables, .unreadableAddress: .configuration
    case .unreachable: .unavailable
    default: .inputOutput
    }
  }

  /// Returns the exit code; the same as in `signet`.
  private static func code(_ failure: TransportFailure) -> ExitCode {
    switch failure {
    case .unreachable, .noResponse, .incompleteResponse: .unavailable
    case .timedOut: .temporaryFailure
    case .cancelled: .interrupted
    case .invalidConfiguration: .configuration
    case .libraryFailure: .software
    default: .protocolError
    }
  }
}
