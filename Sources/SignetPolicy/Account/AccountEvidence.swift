public import SignetJSON

/// Facts about a device; account policies are evaluated over them.
///
/// A `nil` member is unknown: a policy that needs it has no result. The JSON form leaves unknown members out.
public struct AccountEvidence: Sendable, Hashable {
  /// One sign that a device has been tampered with.
  public struct TamperFinding: Sendable, Hashable {
    /// The kind of sign, such as `debugger`.
    public var category: String
    /// The strength of the sign, from 0 to 1.
    public var weight: Double
    /// The finding in one sentence.
    public var explanation: String

    /// Creates a finding.
    public init(category: String, weight: Double, explanation: String) {
      (self.category, self.weight, self.explanation) = (category, weight, explanation)
    }
  }

  /// True if a finger or a face can be matched now: a sensor is present and a user has enrolled.
  public var biometricAvailable: Bool?
  /// The tamper score of the device, from 0 (no sign) to 1.
  public var tamperScore: Double?
  /// The findings behind the score, the strongest first.
  public var tamperFindings: [TamperFinding] = []
  /// The app's version.
  public var appVersion: String?
  /// The operating system, in lower case, such as `linux` or `ios`.
  public var osName: String?
  /// The version of the operating system; on Linux that of the kernel.
  public var osVersion: String?
  /// True if the device asks its user for a passcode.
  public var screenLock: Bool?
  /// True if hardware generates the keys and does not let them out.
  public var hardwareKeystore: Bool?
  /// True if that hardware is a software simulation.
  public var isKeystoreSimulated: Bool?
  /// Seconds since the account's last use, 0 or more.
  public var secondsSinceUse: Int64?
  /// Seconds since the last contact with the account's server, 0 or more.
  public var secondsSinceContact: Int64?
  /// True if the wall clock was set back since the account's last use or its last contact with the server.
  public var clockSetBack: Bool?
  /// The build flavour of the app, such as `debug` or `release`.
  public var flavour: String?

  /// Creates evidence with no known facts.
  public init() {}

  /// Overwrites these facts with the known facts of another source.
  ///
  /// - Parameter other: The other source's facts; a fact that is unknown there is kept as it is here.
  public mutating func merge(_ other: AccountEvidence) {
    biometricAvailable = other.biometricAvailable ?? biometricAvailable
    if let score = other.tamperScore { (tamperScore, tamperFindings) = (score, other.tamperFindings) }
    appVersion = other.appVersion ?? appVersion
    (osName, osVersion) = (other.osName ?? osName, other.osVersion ?? osVersion)
    screenLock = other.screenLock ?? screenLock
    hardwareKeystore = other.hardwareKeystore ?? hardwareKeystore
    isKeystoreSimulated = other.isKeystoreSimulated ?? isKeystoreSimulated
    secondsSinceUse = other.secondsSinceUse ?? secondsSinceUse
    secondsSinceContact = other.secondsSinceContact ?? secondsSinceContact
    clockSetBack = other.clockSetBack ?? clockSetBack
    flavour = other.flavour ?? flavour
  }

  private static let maximumFindingCount = 16
  private static let maximumExplanationCount = 200

  /// The JSON form, with at most 16 findings.
  public var json: JSONObject {
    var object = JSONObject()
    object["biometricAvailable"] = biometricAvailable.map { .bool($0) }
    // JSON has no infinity and no NaN: such a score is written as unknown.
    object["tamperScore"] = tamperScore.flatMap { $0.isFinite ? .number($0) : nil }
    if !tamperFindings.isEmpty {
      object["tamperFindings"] = .array(
        tamperFindings.prefix(Self.maximumFindingCount).map {
          .object([
            "category": .string($0.category), "weight": .number($0.weight.isFinite ? $0.weight : 1),
            "explanation": .string(String($0.explanation.prefix(Self.maximumExplanationCount))),
          ])
        })
    }
    object["appVersion"] = appVersion.map { .string($0) }
    object["osName"] = osName.map { .string($0) }
    object["osVersion"] = osVersion.map { .string($0) }
    object["screenLock"] = screenLock.map { .bool($0) }
    object["hardwareKeystore"] = hardwareKeystore.map { .bool($0) }
    object["isKeystoreSimulated"] = isKeystoreSimulated.map { .bool($0) }
    object["secondsSinceUse"] = secondsSinceUse.map { .integer($0) }
    object["secondsSinceContact"] = secondsSinceContact.map { .integer($0) }
    object["clockSetBack"] = clockSetBack.map { .bool($0) }
    object["flavour"] = flavour.map { .string($0) }
    return object
  }

  /// Reads the JSON form; unknown members are ignored.
  ///
  /// - Throws: ``JSONFailure/wrongType(member:expected:)``. A value of the right type that is out of range is accepted: the
  ///   policy that needs it then has no result.
  public init(_ object: JSONObject) throws(JSONFailure) {
    biometricAvailable = try object.optionalBool("biometricAvailable")
    if object.contains("tamperScore") { tamperScore = try object.number("tamperScore") }
    for finding in try object.optionalArray("tamperFindings") ?? [] {
      guard case .object(let finding) = finding else {
        throw .wrongType(member: "tamperFindings", expected: .object)
      }
      tamperFindings.append(
        TamperFinding(
          category: try finding.string("category"), weight: try finding.number("weight"),
          explanation: try finding.string("explanation")))
    }
    appVersion = try object.optionalString("appVersion")
    osName = try object.optionalString("osName")
    osVersion = try object.optionalString("osVersion")
    screenLock = try object.optionalBool("screenLock")
    hardwareKeystore = try object.optionalBool("hardwareKeystore")
    isKeystoreSimulated = try object.optionalBool("isKeystoreSimulated")
    secondsSinceUse = try object.optionalInteger("secondsSinceUse")
    secondsSinceContact = try object.optionalInteger("secondsSinceContact")
    clockSetBack = try object.optionalBool("clockSetBack")
    flavour = try object.optionalString("flavour")
  }
}
