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
    Check("the audit log is searched for a user from its newest entries back, in stretches") { storage in
      try await storage.add(Sample.alice)
      let key = AuditRecord(.keyRevoked(key: "k"), by: .local, at: 1010)
      for name in ["alice", "bob", "alice"] {
        try await storage.append(event(name))
        try await storage.append(key)
      }
      let all = try await storage.auditEntries(after: 0, limit: 100)
      var found: [AuditEntry] = []
      var stretch: AuditStretch?
      repeat {
        let next = try await storage.auditStretch(about: "~alice", before: stretch, limit: 2)
        let numbers = next.entries.map { [$0.chain, -$0.number] }
        try expect(
          numbers, is: numbers.sorted { $0.lexicographicallyPrecedes($1) }, "the order of a stretch")
        for chain in Set(next.entries.map(\.chain)) {
          try expect(next.entries.count { $0.chain == chain } <= 2, is: true, "entries of a chain")
        }
        found += next.entries
        stretch = next
      } while stretch?.unread.isEmpty == false
      let expected = all.filter { $0.text == key.text || $0.text.contains("\"user\":\"~alice\"") }
      try expect(Set(found), is: Set(expected), "what names the user, or nobody")
      try expect(found.count, is: expected.count, "each once")
      try expect(expected.count < all.count, is: true, "others")
    },
  ]
}
