import SignetStorage

extension StorageContract {
  static let lifecycle: [Check] = [
    Check("what was begun is finished by close, and nothing afterwards") { storage in
      let results = try await race { number -> Bool in
        if number == contestants / 2 { await storage.close() }
        do {
          try await storage.append(event("e"))
          return true
        } catch StorageFailure.closed { return false }
      }
      try expect(results.contains(false), "no call was refused after close")
      try await expect(.closed, "a change after close") { try await storage.append(event("late")) }
      try await expect(.closed, "a read after close") { try await storage.users() }
    }
  ]
}
