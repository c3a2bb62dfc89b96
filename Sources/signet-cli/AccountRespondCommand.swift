import Signet
import SignetJSON
import SignetTerminal

extension Command {
  static let respond = Command(
    "respond", "Answer a challenge",
    description: """
      For the accounts that signet account list shows as challenge: keys of OCRA (RFC 6287), which come from PSKC \
      documents. The suite of the account defines the form of the challenge and the other inputs. No network is \
      needed.

      If the suite includes a PIN, it is asked for after the password of the accounts, if they have one. The answer \
      depends on the PIN, which is not stored: a wrong PIN gives a wrong answer.

      A counter is incremented and stored before the answer is shown; a rejected challenge does not change it.
      """,
    options: [
      .value("pin-fd", "Read the PIN from this file descriptor instead of asking: one line", named: "n"),
      .value("session", "The session information that the suite requires, in hexadecimal", named: "hex"),
    ],
    arguments: [accountArgument, Argument("challenge", "The challenge")],
    examples: [
      .init("signet account respond Bank 12345678", "Answer, and be asked for the PIN if there is one"),
      .init("signet account respond --pin-fd 3 Bank 12345678 3<pin", "Answer from a script"),
    ]
  ) { arguments in
    let session = try arguments.optionalString("session").map(session)
    let answer = try await withChosenCodes(arguments, secretsFrom: ["pin-fd"]) { device, account, password in
      var pin: SharedSecretBox?
      if account.suite?.pinHash != nil || arguments.isSet("pin-fd") {
        pin = try await arguments.pin(of: account)
      }
      return try await device.accounts.response(
        of: account.id, to: arguments.string("challenge"), pin: pin, session: session, by: password)
    }
    var object: JSONObject = ["response": .string(answer.response)]
    object["counter"] = answer.counter.map { number in
      Int64(exactly: number).map { .integer($0) } ?? .string(String(number))
    }
    arguments.report("\(ours: answer.response)", object)
    return .success
  }

  private static func session(_ text: String) throws -> [UInt8] {
    let digits = Array(text.utf8)
    let values = digits.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
    guard values.count == digits.count, digits.count.isMultiple(of: 2), digits.count <= 2048 else {
      throw CommandFailure(.usage, "--session is not written in pairs of hexadecimal digits")
    }
    return stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
  }
}

extension Arguments {
  fileprivate func pin(of account: Account) async throws -> SharedSecretBox {
    let pin = try await answering(with: "--pin-fd, for example --pin-fd 3 3<FILE") {
      try await secretInput("pin-fd").read("PIN of \(account.shown): ") {
        SharedSecretBox(SecretBytes(copying: $0))
      }
    }
    guard pin.withSecret({ $0.byteCount > 0 }) else {
      throw CommandFailure(.dataError, "the PIN is empty; enter it")
    }
    return pin
  }
}
