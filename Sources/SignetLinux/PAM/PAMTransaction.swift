import CPAM
import Glibc
import SignetCrypto
import SignetSystem
import SignetVault

/// One PAM transaction, from start to end, on a thread that may block.
struct PAMTransaction: Sendable {
  /// The longest answer that modules accept (`PAM_MAX_RESP_SIZE`, which includes the terminating zero).
  private static let answerLimit = 511

  let service: String
  let folder: String?
  let bridge: PAMConversationBridge

  /// Runs the conversation and the checks.
  ///
  /// - Throws: The failure that ended the conversation, or the translated PAM error.
  func run() throws(DevicePasscodeFailure) {
    guard let user = Self.userName else { throw .unavailable("the user has no name") }
    var handle: OpaquePointer?
    // The bridge outlives the transaction, which refers to it.
    let context = unsafe Unmanaged.passUnretained(bridge).toOpaque()
    var conversation = unsafe pam_conv(conv: Self.converse, appdata_ptr: context)
    var code = unsafe signet_pam_start(service, user, &conversation, folder, &handle)
    guard code == PAM_SUCCESS, let handle = unsafe handle else { throw unsafe Self.failure(code, nil) }
    defer { _ = unsafe pam_end(handle, code) }
    code = unsafe pam_authenticate(handle, Int32(PAM_DISALLOW_NULL_AUTHTOK))
    if code == PAM_SUCCESS {
      code = unsafe pam_acct_mgmt(handle, Int32(PAM_DISALLOW_NULL_AUTHTOK))
      // A module may have asked for a name and authenticated another user.
      if code == PAM_SUCCESS && !(unsafe Self.matchesUser(user, handle)) { code = PAM_AUTH_ERR }
    }
    // A cancelled conversation stays cancelled, even if a later module reports success.
    if let failure = bridge.failure { throw failure }
    guard code == PAM_SUCCESS else { throw unsafe Self.failure(code, handle) }
  }

  /// The name of the account that this process runs as.
  private static var userName: String? {
    var entry = unsafe passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: 16_384)
    guard unsafe getpwuid_r(getuid(), &entry, &buffer, buffer.count, &found) == 0, unsafe found != nil else {
      return nil
    }
    return unsafe String(cString: entry.pw_name)
  }

  private static func matchesUser(_ user: String, _ handle: OpaquePointer) -> Bool {
    var item: UnsafeRawPointer?
    guard unsafe pam_get_item(handle, PAM_USER, &item) == PAM_SUCCESS, let item = unsafe item else {
      return false
    }
    return unsafe String(cString: item.assumingMemoryBound(to: CChar.self)) == user
  }

  /// Translates a PAM result code.
  private static func failure(_ code: Int32, _ handle: OpaquePointer?) -> DevicePasscodeFailure {
    switch code {
    case PAM_AUTH_ERR, PAM_CRED_INSUFFICIENT: return .mismatch
    case PAM_MAXTRIES: return .lockedOut
    case PAM_ACCT_EXPIRED, PAM_PERM_DENIED, PAM_USER_UNKNOWN: return .accountRefused
    case PAM_NEW_AUTHTOK_REQD, PAM_AUTHTOK_EXPIRED, PAM_CRED_EXPIRED: return .passcodeExpired
    default:
      let description =
        unsafe pam_strerror(handle, code).map { unsafe String(cString: $0) } ?? "PAM error \(code)"
      return .unavailable(TerminalText.sanitised(description, limit: 200))
    }
  }

  /// Answers a module: C calls this on the thread of ``run()``.
  ///
  /// The answers are in `malloc` memory, which the module wipes and frees. On failure, the answers made so far are wiped here.
  private static let converse: PAMConversationFunction = { count, messages, responses, context in
    guard let messages = unsafe messages, let responses = unsafe responses, let context = unsafe context,
      count > 0, count <= PAM_MAX_NUM_MSG,
      let answers = unsafe calloc(Int(count), MemoryLayout<pam_response>.stride)?
        .bindMemory(to: pam_response.self, capacity: Int(count))
    else { return PAM_CONV_ERR }
    let bridge = unsafe Unmanaged<PAMConversationBridge>.fromOpaque(context).takeUnretainedValue()
    for index in 0..<Int(count) {
      guard let message = unsafe messages[index],
        unsafe reply(to: message.pointee, into: &answers[index], bridge)
      else {
        for other in 0..<Int(count) { unsafe wipeAndFree(answers[other].resp) }
        unsafe free(answers)
        return PAM_CONV_ERR
      }
    }
    unsafe responses.pointee = unsafe answers
    return PAM_SUCCESS
  }

  private static func reply(
    to message: pam_message, into answer: inout pam_response, _ bridge: PAMConversationBridge
  ) -> Bool {
    let text = unsafe text(message.msg)
    switch unsafe message.msg_style {
    case PAM_PROMPT_ECHO_OFF, PAM_PROMPT_ECHO_ON:
      let echoes = unsafe message.msg_style == PAM_PROMPT_ECHO_ON
      guard let box = bridge.promptUser(text, echoes: echoes) else { return false }
      guard let copy = unsafe box.withSecret({ unsafe cString(of: $0) }) else {
        bridge.end(.mismatch)
        return false
      }
      unsafe answer.resp = copy
      return true
    case PAM_ERROR_MSG: return bridge.show(text, isError: true)
    case PAM_TEXT_INFO: return bridge.show(text, isError: false)
    default:
      bridge.end(.unavailable("it sent a prompt of an unknown type"))
      return false
    }
  }

  /// The secret with a terminating zero; `nil` if it contains a zero or exceeds the limit, because it cannot be right then.
  private static func cString(of secret: borrowing SecretBytes) -> UnsafeMutablePointer<CChar>? {
    unsafe secret.withBytes { bytes in
      unsafe bytes.withUnsafeBytes { bytes in
        guard bytes.count <= answerLimit, unsafe !bytes.contains(0),
          let copy = unsafe malloc(bytes.count + 1)
        else { return nil }
        if let start = bytes.baseAddress { unsafe copy.copyMemory(from: start, byteCount: bytes.count) }
        unsafe copy.storeBytes(of: 0, toByteOffset: bytes.count, as: UInt8.self)
        return unsafe copy.bindMemory(to: CChar.self, capacity: bytes.count + 1)
      }
    }
  }

  private static func wipeAndFree(_ text: UnsafeMutablePointer<CChar>?) {
    guard let text = unsafe text else { return }
    unsafe explicit_bzero(text, strlen(text))
    unsafe free(text)
  }

  /// A module's text, limited to PAM's maximum length; invalid UTF-8 is replaced.
  private static func text(_ message: UnsafePointer<CChar>?) -> String {
    guard let message = unsafe message else { return "" }
    let count = unsafe strnlen(message, Int(PAM_MAX_MSG_SIZE))
    let bytes = unsafe UnsafeRawBufferPointer(start: message, count: count)
    return unsafe String(decoding: bytes, as: UTF8.self)
  }
}

/// The C type of `pam_conv.conv`.
private typealias PAMConversationFunction =
  @convention(c) (
    Int32, UnsafeMutablePointer<UnsafePointer<pam_message>?>?,
    UnsafeMutablePointer<UnsafeMutablePointer<pam_response>?>?, UnsafeMutableRawPointer?
  ) -> Int32
