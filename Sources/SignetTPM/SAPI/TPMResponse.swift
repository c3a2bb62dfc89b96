#if os(Linux)
  import CTPM2
  package import SignetVault

  /// A response code (TPM 2.0 Library, part 2 section 6.6).
  ///
  /// The named codes omit the bits that identify a handle, parameter or session.
  package struct TPMResponse: Equatable {
    let code: UInt32

    package init(_ code: UInt32) { self.code = code }

    /// The code without the position bits.
    var kind: UInt32 {
      if isFromTPM, code & 0x80 != 0 { return code & 0xBF }
      return code
    }

    /// True if the TPM itself answered, not a software layer before it.
    var isFromTPM: Bool { code & 0xFFFF_0000 == 0 }

    /// The library's description of the code.
    package var meaning: String {
      guard let text = unsafe Tss2_RC_Decode(code) else { return "no such code is known" }
      return unsafe String(cString: text)
    }

    package static let authFail: UInt32 = 0x08E
    static let badAuth: UInt32 = 0x0A2
    static let authUnavailable: UInt32 = 0x12F
    static let handle: UInt32 = 0x08B
    static let integrity: UInt32 = 0x09F
    static let policyFail: UInt32 = 0x09D
    static let nvSpace: UInt32 = 0x14B
    static let nvDefined: UInt32 = 0x14C
    static let objectMemory: UInt32 = 0x902
    static let sessionMemory: UInt32 = 0x903
    static let sessionHandles: UInt32 = 0x905
    static let objectHandles: UInt32 = 0x906
    static let yielded: UInt32 = 0x908
    static let testing: UInt32 = 0x90A
    static let nvRate: UInt32 = 0x920
    static let lockout: UInt32 = 0x921
    static let retry: UInt32 = 0x922
    static let nvUnavailable: UInt32 = 0x923
    /// True if the TPM did nothing yet, and the same command must be sent again.
    var requiresRetry: Bool { [Self.retry, Self.yielded, Self.testing].contains(code) }
    /// FMT1 codes from 0x081 to 0x0BF report an argument with a wrong form or value.
    var isArgumentError: Bool { isFromTPM && code & 0x80 != 0 }
    /// True if all slots for keys or sessions are occupied.
    var isOutOfSlots: Bool {
      [Self.objectMemory, Self.sessionMemory, Self.sessionHandles, Self.objectHandles].contains(kind)
    }
  }

  /// The reason why a TPM call failed, for use inside this module, where the code still matters.
  package enum TPMFailure: Error, Equatable {
    /// The TPM, or the library before it, answered with a code.
    case response(call: String, TPMResponse)
    /// A failure whose meaning for the caller is known.
    case keystore(KeystoreFailure)

    var isOutOfSlots: Bool {
      guard case .response(_, let response) = self else { return false }
      return response.isOutOfSlots
    }

    /// The code without its position, if there is one.
    var kind: UInt32? {
      guard case .response(_, let response) = self else { return nil }
      return response.kind
    }

    /// Runs `body` and translates some codes to the given failures.
    package static func meaning<R: ~Copyable>(
      _ meanings: [UInt32: KeystoreFailure], _ body: () throws(TPMFailure) -> R
    ) throws(TPMFailure) -> R {
      do throws(TPMFailure) { return try body() } catch {
        if let kind = error.kind, let meaning = meanings[kind] { throw .keystore(meaning) }
        throw error
      }
    }

    /// The failure reported to callers of the keystore.
    var keystoreFailure: KeystoreFailure {
      switch self {
      case .keystore(let failure): failure
      case .response(let call, let response):
        switch response.kind {
        case TPMResponse.lockout: .defending(seconds: nil)
        case TPMResponse.nvRate, TPMResponse.nvUnavailable: .busy
        case _ where response.requiresRetry || response.isOutOfSlots: .busy
        case TPMResponse.nvSpace: .full
        default: .hardware(call: call, code: response.code, meaning: response.meaning)
        }
      }
    }
  }
#endif
