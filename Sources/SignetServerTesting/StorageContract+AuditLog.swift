import SignetStorage

extension StorageContract {
  static let audit: [Check] = [
    Check("the audit log has no gap and is read in pages") { storage in
      for number in 1...25 { try await storage.append(event("e\(number)")) }
      var cursor = LogCursor()
      var counts: [Int] = []
      while counts.last != 0, counts.count < 10 {
        let page = try await storage.auditEntries(after: cursor, limit: 10)
        counts.append(page.count)
        cursor = cursor.advanced(past: page)
      }
      try expect(counts, is: [10, 10, 5, 0], "the sizes of pages")
      try await expect(storage.auditEntries(after: 0, limit: 0), is: [], "a page of nothing")
      try await expectLog(storage, has: (1...25).map { "e\($0)" })
    },
    Check("the audit chain holds when 50 write at once") { storage in
      try await storage.add(Sample.alice)
      _ = try await race { number in
        try await storage.append(event("a\(number)"))
        _ = try await storage.submit(nil, limit: 1000)
        try await storage.addUser(UserRecord(id: "u\(number)", created: 1), audit: event("u\(number)"))
      }
      try await expect(log(of: storage).count, is: 1 + 3 * contestants, "entries")
    },
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
    },
    Check("the newest entries of the audit log come first") { storage in
      for name in ["1", "2", "3"] { try await storage.append(event(name)) }
      let found = try await storage.lastAuditEntries(limit: 2)
      try expect(found.isEmpty, is: false, "whether there are none")
      let chains = Set(found.map(\.chain))
      if chains.count == 1 {
        try expect(found.map(\.text), is: [event("3").text, event("2").text], "the newest two")
      }
      for chain in chains {
        let numbers = found.filter { $0.chain == chain }.map(\.number)
        try expect(numbers, is: numbers.sorted(by: >), "the order of a chain")
      }
    },
  ]
}
