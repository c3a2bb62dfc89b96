import SignetStorage

extension StorageContract {
  static let containers: [Check] = [
    Check("a container is revoked for good") { storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      try await expect(storage.revokeContainer("c1"), is: true, "revoke")
      try await expect(storage.revokeContainer("c2"), is: false, "revoke of nothing")
      try await expect(storage.container("c1")?.state, is: .revoked, "the state")
      try await expect(storage.confirm("c1"), is: .gone, "confirm of a revoked container")
      try await expect(storage.submit(5), is: .refused, "a code of a revoked container")
      try await expect(storage.credential("c1"), is: nil, "what made its codes")
    },
    Check("containers are listed oldest first, of one user") { storage in
      try await storage.add(Sample.alice)
      try await storage.add(Sample.bob)
      try await storage.activate("c2", device: 1)
      try await storage.activate("c1", device: 2)
      try await storage.activate("c3", user: "bob")
      try await expect(storage.containers(user: "alice").map(\.id), is: ["c1", "c2"], "alice's containers")
      try await expect(storage.containers(user: "nobody"), is: [], "nobody's containers")
    },
    Check("a request id is claimed once for each container, until it is swept") { storage in
      try await storage.add(Sample.alice)
      try await storage.activate("c1")
      try await storage.activate("c2", device: 8)
      func claim(_ id: UInt8, _ container: ContainerID) async throws -> Bool {
        try await storage.claimRequest(
          [UInt8](repeating: id, count: 16), of: container, expires: 500)?.id == container
      }
      try await expect(claim(1, "c1"), is: true, "the first claim")
      try await expect(claim(1, "c1"), is: false, "the second claim")
      try await expect(claim(1, "c2"), is: true, "the same id of another container")
      try await expect(claim(2, "c1"), is: true, "another id")
      _ = try await storage.sweep(at: 499) { _ in event("expired") }
      try await expect(claim(1, "c1"), is: false, "a claim before its end")
      _ = try await storage.sweep(at: 500) { _ in event("expired") }
      try await expect(claim(1, "c1"), is: true, "a claim after its end")
    },
    Check("50 claims of one id at once: one wins") { storage in
      let claims = try await race { _ in
        try await storage.claimID([UInt8](repeating: 3, count: 16), of: "uaf:t1", expires: 500)
      }
      try expect(claims.filter { $0 }.count, is: 1, "claims that win")
    },
  ]
}
