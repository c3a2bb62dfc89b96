#if os(Linux)
  import Foundation
  import Signet
  import SignetTestKit
  import Testing

  import SignetAgent

  struct AgentConfigurationTests {
    private func parse(_ text: String) throws -> AgentConfiguration {
      try AgentConfiguration(parsing: Array(text.utf8))
    }

    @Test("groups with their programs and limits")
    func groups() throws {
      let read = try parse(
        #"{"version":1,"groups":[{"name":"office","executables":["/usr/bin/mail","/opt/a b/c"],"idle":60,"age":600},{"name":"home","executables":[]}]}"#
      )
      #expect(read.groups.map(\.group.name) == ["office", "home"])
      #expect(read.groups[0].executables == ["/usr/bin/mail", "/opt/a b/c"])
      #expect(read.groups[0].limits == SessionLimits(idleTimeout: .seconds(60), maximumAge: .seconds(600)))
      #expect(read.groups[1].limits == .standard)
    }

    @Test(
      "a path must be absolute and in canonical form",
      arguments: ["bin/a", "", "/", "/usr/../bin/a", "/usr/./a", "/usr//a", "/usr/a/", "/a\u{0}b"])
    func paths(path: String) throws {
      #expect(throws: AgentConfigurationFailure.badPath(path)) {
        try AgentConfiguration(groups: [.init(.standard, executables: [path])])
      }
    }

    @Test("an invalid configuration is refused")
    func refusals() throws {
      let texts = [
        "", "{}", #"{"version":2,"groups":[]}"#, #"{"version":1}"#, #"{"version":1,"groups":[1]}"#,
        #"{"version":1,"groups":[{"name":"a"}]}"#, #"{"version":1,"groups":[{"executables":[]}]}"#,
        #"{"version":1,"groups":[{"name":"a b","executables":[]}]}"#,
        #"{"version":1,"groups":[{"name":"a","executables":[],"idel":1}]}"#,
        #"{"version":1,"groups":[{"name":"a","executables":[1]}]}"#,
      ]
      for text in texts { #expect(throws: AgentConfigurationFailure.self, "\(text)") { try parse(text) } }
      #expect(throws: AgentConfigurationFailure.duplicateGroup("a")) {
        try parse(#"{"version":1,"groups":[{"name":"a","executables":[]},{"name":"a","executables":[]}]}"#)
      }
      let many = (0...AgentConfiguration.maximumCount).map { "/bin/\($0)" }
      #expect(throws: AgentConfigurationFailure.tooMany(64)) {
        try AgentConfiguration(groups: [.init(.standard, executables: many)])
      }
    }

    @Test("a configuration file that other users can write is refused")
    func file() throws {
      let folder = try TemporaryFolder()
      let path = folder.file("agent.json")
      #expect(throws: AgentConfigurationFailure.missing(path)) { try AgentConfiguration(path: path) }
      try Data(#"{"version":1,"groups":[]}"#.utf8).write(to: URL(filePath: path))
      #expect(chmod(path, 0o644) == 0)
      #expect(try AgentConfiguration(path: path).groups.isEmpty)
      #expect(chmod(path, 0o664) == 0)
      #expect(throws: AgentConfigurationFailure.notTrusted(path)) { try AgentConfiguration(path: path) }
    }
  }
#endif
