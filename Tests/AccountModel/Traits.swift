/// What things of a history are like, by the number in their names: the model and whoever takes the steps go by the same.
package enum Traits {
  /// How a client of OpenID Connect gets what was decided.
  package enum Delivery: String, Sendable { case poll, ping, push }

  /// Where a key lies.
  package enum KeyProtection: Int, Sendable, Comparable {
    case software
    /// In hardware, as whoever has it says.
    case claimed
    /// In hardware, as certificates say.
    case attested

    /// Whether the first is weaker.
    package static func < (first: KeyProtection, second: KeyProtection) -> Bool {
      first.rawValue < second.rawValue
    }
  }

  /// A requirement of the operator's.
  package struct Requirement: Hashable, Sendable {
    /// The name that clients choose it by.
    package let name: String
    /// The minimum number of factors.
    package let factors: Int
    /// The weakest protection of the key.
    package let protection: KeyProtection
  }

  /// What the operator requires by names of its own.
  package static let requirements = [
    Requirement(name: "attested", factors: 1, protection: .attested),
    Requirement(name: "hardware", factors: 1, protection: .claimed),
    Requirement(name: "two", factors: 2, protection: .software),
  ]

  /// The names of which an answer to a client's request has to meet one.
  private static let names: [[String]] = [
    [], ["attested", "urn:signet:acr:answered"], ["two"],
    ["hardware", "urn:signet:acr:signed", "urn:signet:acr:uaf"], ["hardware"], ["attested", "two"],
    ["urn:signet:acr:uaf", "urn:signet:acr:answered"],
  ]

  /// Seconds of a step of codes that go by the time.
  package static let period: Int64 = 30
  /// Codes in a row that a container or token refuses, after which it is locked.
  package static let codeAttempts = 3
  /// Refused codes in a row for a user from an address that cost no wait; the first wait, and the longest, in seconds.
  package static let (freeCodeAttempts, firstCodeWait, longestCodeWait): (Int, Int64, Int64) = (1, 20, 60)
  /// Wrong numbers with which a request is denied.
  package static let wrongNumbers = 2

  /// Whether the codes of a container or token go by the time: of containers they all do, and of every other token (`x`).
  package static func isTimed(_ maker: String) -> Bool { !maker.hasPrefix("x") || number(in: maker) % 2 == 0 }

  /// Whether a party shows a number with what it asks of containers.
  package static func hasNumber(_ request: String) -> Bool { number(in: request) % 3 == 1 }

  /// The name of the requirement that the keys of an operation have to meet; `nil` for none, as in what is sent with a request.
  package static func policy(of session: String) -> String? {
    [nil, "attested", nil, "hardware", nil][number(in: session) % 5]
  }

  /// How a client gets what was decided.
  package static func delivery(of client: String) -> Delivery {
    [.poll, .ping, .push][number(in: client) % 3]
  }

  /// What a client has named in a request, the most wanted first.
  package static func names(of request: String) -> [String] { names[number(in: request) % names.count] }

  /// Where the signing key of a container lies, as its device says.
  package static func protection(ofContainer container: String) -> KeyProtection {
    number(in: container) % 2 == 0 ? .software : .claimed
  }

  /// Where a UAF key lies.
  package static func protection(ofKey key: String) -> KeyProtection {
    [.software, .claimed, .attested][number(in: key) % 3]
  }

  /// Whether containers have their user verified before they sign, by the number of their device.
  package static func verifiesUser(onDevice device: UInt8) -> Bool { device == 1 }

  /// How many factors a UAF key shows: its model verifies the user by one way.
  package static let factorsOfKeys = 2

  /// The number in a name of the histories, such as `t12`; 0 for any other name, as real servers make them.
  private static func number(in name: String) -> Int {
    Int(name.drop { !("0"..."9" ~= $0) }) ?? 0
  }
}
