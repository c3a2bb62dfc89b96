import SignetPolicy
import SignetTestKit

extension SplitMix64 {
  mutating func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }

  mutating func chance(_ percent: Int) -> Bool { pick(1...100) <= percent }

  mutating func element<Value>(_ values: [Value]) -> Value { values[pick(0...(values.count - 1))] }
}

extension PasswordRules {
  /// Small numbers, so that passwords often meet the limits; the rules may contradict each other.
  static func random(_ generator: inout SplitMix64) -> PasswordRules {
    var rules = PasswordRules(minimumLength: generator.pick(1...8), maximumLength: generator.pick(4...14))
    for kind in CharacterClass.allCases {
      rules[kind] = CharacterCount(
        minimum: generator.chance(40) ? generator.pick(0...3) : 0,
        maximum: generator.chance(30) ? generator.pick(0...6) : nil)
    }
    rules.allowsSequences = generator.chance(50)
    rules.maximumRepeats = generator.chance(40) ? generator.pick(1...3) : nil
    rules.maximumHistory = generator.chance(30) ? generator.pick(0...10) : 0
    rules.age = PasswordAge(
      minimumDays: generator.chance(30) ? generator.pick(0...10) : 0,
      maximumDays: generator.chance(30) ? generator.pick(0...90) : 0)
    rules.cache = PasswordCache(
      isEnabled: generator.chance(50), timeout: generator.chance(30) ? generator.pick(1...3600) : 30)
    rules.checksDictionary = generator.chance(20)
    return rules
  }
}

extension LockPolicy {
  static func random(_ generator: inout SplitMix64) -> LockPolicy {
    let atLimit: LimitConsequence = generator.chance(30) ? .wipe : .lockOut
    switch generator.pick(0...4) {
    case 0: return .none
    case 1: return .lock(limit: generator.pick(1...100), atLimit: atLimit)
    case 2:
      let counter = generator.pick(1...20)
      return .delay(seconds: generator.pick(1...(604_800 >> (counter - 1))), counter: counter)
    case 3:
      let waits = (0..<generator.pick(1...99)).map { _ in
        generator.chance(50) ? 0 : generator.pick(0...604_800)
      }
      return .coolDown(waits: waits, atLimit: atLimit)
    default: return .silent
    }
  }
}

extension ProtectionPolicy {
  /// A valid policy of any type.
  static func random(_ generator: inout SplitMix64) -> ProtectionPolicy {
    while true {
      let password: PasswordPolicy
      do { password = try PasswordPolicy(.random(&generator)) } catch { continue }
      let lock = LockPolicy.random(&generator)
      switch generator.pick(0...9) {
      case 0: return .device
      case 1: return .biometric
      case 2: return .devicePasscode
      case 3, 4: return .biometricOrPassword(password, lock)
      case 5, 6: return .deviceLockOrPassword(password, lock)
      default: return .password(password, lock)
      }
    }
  }
}
