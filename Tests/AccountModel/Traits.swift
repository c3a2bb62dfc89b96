/// Properties of things in a history, derived from the number in their names; the model and the driver of the steps share them.
package enum Traits {
  /// The mode in which a client of OpenID Connect receives the outcome.
  package enum Delivery: String, Sendable { case poll, ping, push }

  /// The protection of a key.
  package enum KeyProtection: Int, Sendable, Comparable {
    case software
    /// In hardware, by the client's claim.
    case claimed
    /// In hardware, proved by certificates.
    case attested

    /// Returns whether the first protection is weaker.
    package static func < (first: KeyProtection, second: KeyProtection) -> Bool {
      first.rawValue < second.rawValue
    }
  }

  /// A requirement that the operator has defined.
  package struct Requirement: Hashable, Sendable {
    /// The name by which clients select it.
    package let name: String
    package let factors: Int
    /// The weakest accepted protection of the key.
    package let protection: KeyProtection
  }

  /// The requirements that the operator has defined.
  package static let requirements = [
    Requirement(name: "attested", factors: 1, protection: .attested),
    Requirement(name: "hardware", factors: 1, protection: .claimed),
    Requirement(name: "two", factors: 2, protection: .software),
  ]

  /// Lists of requested names; an answer has to meet one name of its list.
  private static let names: [[String]] = [
    [], ["attested", "urn:signet:acr:answered"], ["two"],
    ["hardware", "urn:signet:acr:signed", "urn:signet:acr:uaf"], ["hardware"], ["attested", "two"],
    ["urn:signet:acr:uaf", "urn:signet:acr:answered"],
  ]

  /// The length of a time step of codes, in seconds.
  package static let period: Int64 = 30
  /// The number of rejected codes in a row that locks a container or token.
  package static let codeAttempts = 3
  /// Rejected codes in a row for a user and address without a wait; the first and the longest wait, in seconds.
  package static let (freeCodeAttempts, firstCodeWait, longestCodeWait): (Int, Int64, Int64) = (1, 20, 60)
  /// The number of wrong numbers that denies a request.
  package static let wrongNumbers = 2

  /// Indicates whether codes are time-based: those of all containers, and of every other token (`x`).
  package static func isTimed(_ maker: String) -> Bool { !maker.hasPrefix("x") || number(in: maker) % 2 == 0 }

  /// Indicates whether a party shows a number with a request to containers.
  package static func hasNumber(_ request: String) -> Bool { number(in: request) % 3 == 1 }

  /// The requirement that the keys of an operation have to meet; `nil` for none, as for an operation that a request carries.
  package static func policy(of session: String) -> String? {
    [nil, "attested", nil, "hardware", nil][number(in: session) % 5]
  }

  /// The mode in which a client receives the outcome.
  package static func delivery(of client: String) -> Delivery {
    [.poll, .ping, .push][number(in: client) % 3]
  }

  /// The names that a client requests, in order of preference.
  package static func names(of request: String) -> [String] { names[number(in: request) % names.count] }

  /// The protection of a container's signing key, as its device claims.
  package static func protection(ofContainer container: String) -> KeyProtection {
    number(in: container) % 2 == 0 ? .software : .claimed
  }

  /// The protection of a UAF key.
  package static func protection(ofKey key: String) -> KeyProtection {
    [.software, .claimed, .attested][number(in: key) % 3]
  }

  /// Indicates whether containers on a device verify the user before they sign.
  package static func verifiesUser(onDevice device: UInt8) -> Bool { device == 1 }

  /// The number of factors that a UAF key proves: possession, and one way of user verification.
  package static let factorsOfKeys = 2

  /// The number in a history's name such as `t12`; 0 for other names, such as those of real servers.
  private static func number(in name: String) -> Int {
    Int(name.drop { !("0"..."9" ~= $0) }) ?? 0
  }
}
