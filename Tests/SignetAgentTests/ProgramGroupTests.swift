#if os(Linux)
  import SignetAgent
  import Testing

  /// The group of the `signet` program in user namespaces.
  @Suite struct ProgramGroupTests {
    @Test(
      "the map of a user namespace decides whether a group has a number",
      arguments: [
        ("         0          0 4294967295\n", 65_100, true),
        ("         0          0 4294967295\n", 65_534, true),
        ("", 65_100, true), ("         0       1000          1\n", 65_534, false),
        ("         0       1000          1\n", 65_100, false), ("0 1000 1\n1 100000 65536\n", 65_100, true),
        ("0 1000 1\n1 100000 65536\n", 65_534, false), ("100 0 4294967295\n", 99, false),
      ] as [(String, UInt32, Bool)])
    func hasNumber(_ map: String, _ group: UInt32, _ isThere: Bool) {
      #expect(ProgramGroup.hasNumber(group, map: map, overflow: 65_534) == isThere)
    }
  }
#endif
