/// The most likely intended candidate: one that starts with `word`, or one at most two typing errors away.
///
/// - Returns: The first of the closest candidates; `nil` if none is close or `word` is longer than 64.
package func closest(to word: String, among candidates: [String]) -> String? {
  guard word.count <= 64 else { return nil }
  let prefixMatches = candidates.filter { word.count >= 2 && $0.hasPrefix(word) }
  if prefixMatches.count == 1 { return prefixMatches.first }
  let allowed = word.count <= 3 ? 1 : 2
  let ranked = candidates.map { ($0, typingErrors(word, $0)) }.filter { $0.1 <= allowed }
  return ranked.min { $0.1 < $1.1 }?.0
}

/// The minimum number of missing, extra, wrong and swapped neighbouring characters (optimal string alignment).
private func typingErrors(_ first: String, _ second: String) -> Int {
  let a = Array(first)
  let b = Array(second)
  var beforeLast: [Int] = []
  var last = Array(0...b.count)
  for i in a.indices {
    var row = [i + 1]
    for j in b.indices {
      var cost = min(last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
      if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { cost = min(cost, beforeLast[j - 1] + 1) }
      row.append(cost)
    }
    beforeLast = last
    last = row
  }
  return last[b.count]
}
