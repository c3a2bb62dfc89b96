import LibFuzzer

// The messages are not public: apps use AgentSession.
@testable import SignetAgent

@main struct FuzzAgent {
  static func main() { LibFuzzer.run(check) }

  static func check(_ input: [UInt8]) {
    do throws(MalformedMessage) {
      let request = try AgentRequest(parsing: input)
      let again = try AgentRequest(parsing: request.bytes)
      require(again == request, "a request reads as it was written")
    } catch {}
    do throws(MalformedMessage) {
      let answer = try AgentAnswer(parsing: input)
      let again = try AgentAnswer(parsing: answer.bytes)
      require(again == answer, "an answer reads as it was written")
    } catch {}
    if let lengths = AgentProtocol.Lengths(parsing: input) {
      require(lengths.bytes == input, "lengths have one form")
      require((1...4096).contains(lengths.json) && lengths.secret <= 4096, "no length is out of bounds")
    }
    if let greeting = AgentProtocol.parse(greeting: input) {
      require(
        AgentProtocol.greeting(greeting.welcome, nonce: greeting.nonce) == input, "a greeting has one form")
    }
    do throws(AgentConfigurationFailure) {
      let groups = try AgentConfiguration(parsing: input).groups
      require(Set(groups.map(\.group)).count == groups.count, "no two groups have one name")
      require(groups.allSatisfy { $0.executables.allSatisfy { $0.hasPrefix("/") } }, "paths are absolute")
    } catch {}
  }
}
