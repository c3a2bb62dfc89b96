import CZBar

/// Counts what zbar would work on, before it does.
///
/// A QR code has a finder pattern in three corners (ISO/IEC 18004 section 6.3.3): on a line through its middle, dark and light runs of
/// 1:1:3:1:1. zbar looks for such lines in every row and column, joins neighbours to clusters, crosses each cluster of rows with each
/// of columns, and tries all triples of crossings. So a picture full of patterns takes it minutes. The lines are found here by the
/// same functions of zbar and joined as there (`qr_finder_cluster_lines` of zbar 0.23), and a picture is refused that would take more
/// than ``Limits``, which are far beyond any picture of codes. Only work is counted, never time.
package struct FinderSearch {
  /// The most work of each kind.
  package struct Limits: Hashable, Sendable {
    /// Lines through patterns in one direction.
    package var lines = 150_000
    /// Pairs of lines that are compared to join them, in one direction.
    package var comparisons = 50_000_000
    /// Pairs of clusters that are crossed.
    package var crossings = 50_000_000
    /// Triples of crossings, each times the lines of its crossings (their mean); one costs about 3 µs.
    package var triples = 2_500_000

    package init() {}
  }

  /// What was counted.
  package struct Work: Hashable, Sendable {
    /// Lines in both directions.
    package var lines = 0
    /// Pairs of lines that were compared.
    package var comparisons = 0
    /// Clusters of lines in rows, and in columns.
    package var clusters = [0, 0]
    /// Pairs of clusters.
    package var crossings: Int { clusters[0] * clusters[1] }
    /// Triples of crossings in the order of zbar, until it gives up, each times the lines of its crossings (their mean).
    package var triples = 0
  }

  private let limits: Limits
  /// What was counted so far.
  package private(set) var work = Work()

  package init(_ limits: Limits = Limits()) { self.limits = limits }

  /// Counts the work that a picture makes.
  ///
  /// - Throws: ``QRFailure/tooManyPatterns`` as soon as it is too much, and ``QRFailure/library(call:)``.
  mutating func search(_ image: borrowing GreyImage) throws(QRFailure) {
    var clusters: [[Cluster]] = []
    for isVertical in [false, true] {
      let lines = try lines(of: image, isVertical: isVertical)
      work.lines += lines.count
      let joined = try self.clusters(of: lines)
      work.clusters[isVertical ? 1 : 0] = joined.count
      clusters.append(joined)
    }
    guard work.crossings <= limits.crossings else { throw .tooManyPatterns }
    work.triples = Self.triples(
      of: Self.crossings(of: clusters[0], with: clusters[1]),
      atMost: max(8192, image.width * image.height >> 9) + 1)
    guard work.triples <= limits.triples else { throw .tooManyPatterns }
  }

  /// How many lines each crossing has: those of all clusters that meet in it (`qr_finder_find_crossings`).
  private static func crossings(of rows: [Cluster], with columns: [Cluster]) -> [Int] {
    var isTaken = (rows: [Bool](repeating: false, count: rows.count), columns: columns.map { _ in false })
    var crossings: [Int] = []
    for first in rows.indices where !isTaken.rows[first] {
      let row = rows[first].middle
      let found = columns.indices.filter { !isTaken.columns[$0] && columns[$0].middle.crosses(row) }
      guard !found.isEmpty else { continue }
      for index in found { isTaken.columns[index] = true }
      var lines = rows[first].lines + found.reduce(0) { $0 + columns[$1].lines }
      // Of the columns, the one in the middle says which other rows belong to the crossing.
      let column = columns[found[found.count / 2]].middle
      for other in rows.indices[(first + 1)...]
      where !isTaken.rows[other] && column.crosses(rows[other].middle) {
        isTaken.rows[other] = true
        lines += rows[other].lines
      }
      crossings.append(lines)
    }
    return crossings
  }

  /// The work of the triples that zbar tries before it gives up (`qr_reader_match_centers`).
  ///
  /// It begins with the crossings that have the most lines, so a single large pattern is in each triple that it tries among hundreds
  /// of small ones. What is counted is the most that any order can make: an earlier place is in no fewer triples than a later one.
  ///
  /// - Parameters:
  ///   - crossings: How many lines each crossing has.
  ///   - limit: After how many triples it gives up.
  /// - Returns: The triples, each times the mean of its three crossings' lines.
  private static func triples(of crossings: [Int], atMost limit: Int) -> Int {
    let sizes = crossings.sorted(by: >)
    var sums = [0]
    for size in sizes { sums.append(sums[sums.count - 1] + size) }
    var (left, lines) = (limit, 0)
    for first in sizes.indices.dropLast(2) {
      for second in (first + 1)..<(sizes.count - 1) {
        let thirds = min(left, sizes.count - second - 1)
        lines += thirds * (sizes[first] + sizes[second]) + sums[second + 1 + thirds] - sums[second + 1]
        left -= thirds
        guard left > 0 else { return lines / 3 }
      }
    }
    return lines / 3
  }

  /// Lines that belong to one pattern.
  fileprivate struct Cluster {
    /// The line in the middle.
    let middle: Line
    /// How many they are.
    let lines: Int
  }

  /// The middle of a pattern on one row or column, in quarters of a pixel.
  fileprivate struct Line {
    /// Which row or column.
    let across: Int32
    let start: Int32
    let length: Int32
    /// From the middle of the dark run before to the start, and from the end to the middle of the one behind.
    let before: Int32
    let after: Int32
  }

  private func lines(of image: borrowing GreyImage, isVertical: Bool) throws(QRFailure) -> [Line] {
    let reader = try LineReader()
    var lines: [Line] = []
    let (width, height) = (image.width, image.height)
    let limit = limits.lines
    try unsafe image.withUnsafePixels { pixels throws(QRFailure) in
      let (count, length) = isVertical ? (width, height) : (height, width)
      // Pixels of a column are rows apart, each in another page of memory, so columns are copied out, some of them at a time.
      let columns = UnsafeMutableRawPointer.allocate(
        byteCount: isVertical ? Self.columnsAtATime * height : 1, alignment: 64)
      defer { unsafe columns.deallocate() }
      for across in 0..<count {
        let place = across % Self.columnsAtATime
        if isVertical, place == 0 {
          let copied = min(Self.columnsAtATime, width - across)
          for y in 0..<height {
            for x in 0..<copied {
              let pixel = unsafe pixels.load(fromByteOffset: y * width + across + x, as: UInt8.self)
              unsafe columns.storeBytes(of: pixel, toByteOffset: x * height + y, as: UInt8.self)
            }
          }
        }
        let line = unsafe isVertical ? columns + place * height : pixels + across * width
        unsafe reader.read(across: Int32(across), from: line, count: length) { lines.append($0) }
        guard lines.count <= limit else { throw .tooManyPatterns }
      }
    }
    return lines
  }

  private static let columnsAtATime = 64

  private mutating func clusters(of lines: [Line]) throws(QRFailure) -> [Cluster] {
    var isTaken = [Bool](repeating: false, count: lines.count)
    var neighbours: [Int] = []
    var clusters: [Cluster] = []
    for first in lines.indices where !isTaken[first] {
      neighbours.removeAll(keepingCapacity: true)
      neighbours.append(first)
      var (last, length) = (lines[first], Int(lines[first].length))
      var next = first + 1
      while next < lines.count {
        defer { next += 1 }
        if isTaken[next] { continue }
        work.comparisons += 1
        let other = lines[next]
        let threshold = (last.length + 7) >> 2
        if other.across - last.across > threshold { break }
        if last.matches(other, within: threshold) {
          neighbours.append(next)
          last = other
          length += Int(other.length)
        }
      }
      guard work.comparisons <= limits.comparisons else { throw .tooManyPatterns }
      guard neighbours.count >= 3 else { continue }
      let average = (2 * length + neighbours.count) / (2 * neighbours.count)
      // A third of what a pattern of this length has.
      guard neighbours.count * (5 << 2) >= average else { continue }
      for index in neighbours { isTaken[index] = true }
      clusters.append(Cluster(middle: lines[neighbours[neighbours.count / 2]], lines: neighbours.count))
    }
    return clusters
  }

  /// zbar's scanner of a row of pixels, and its decoder of the widths of runs, destroyed with their single owner.
  @safe private struct LineReader: ~Copyable {
    private let scanner: OpaquePointer
    private let decoder: OpaquePointer

    init() throws(QRFailure) {
      guard let decoder = unsafe zbar_decoder_create() else { throw .library(call: "zbar_decoder_create") }
      // Without a decoder of its own it says where an edge is, and leaves the width to us.
      guard let scanner = unsafe zbar_scanner_create(nil) else {
        unsafe zbar_decoder_destroy(decoder)
        throw .library(call: "zbar_scanner_create")
      }
      _ = unsafe zbar_decoder_set_config(decoder, ZBAR_NONE, ZBAR_CFG_ENABLE, 0)
      _ = unsafe zbar_decoder_set_config(decoder, ZBAR_QRCODE, ZBAR_CFG_ENABLE, 1)
      unsafe (self.scanner, self.decoder) = (scanner, decoder)
    }

    deinit {
      unsafe zbar_scanner_destroy(scanner)
      unsafe zbar_decoder_destroy(decoder)
    }

    /// Reads so many pixels, a byte each.
    func read(across: Int32, from pixels: UnsafeRawPointer, count: Int, _ found: (Line) -> Void) {
      _ = unsafe zbar_scanner_new_scan(scanner)
      unsafe zbar_decoder_new_scan(decoder)
      // The last six, the newest first.
      var widths: (UInt32, UInt32, UInt32, UInt32, UInt32, UInt32) = (0, 0, 0, 0, 0, 0)
      for index in 0..<count + 2 {
        let edge =
          if index < count {
            unsafe zbar_scan_y(scanner, Int32(pixels.load(fromByteOffset: index, as: UInt8.self)))
          } else {
            unsafe zbar_scanner_flush(scanner)
          }
        guard edge != ZBAR_NONE else { continue }
        let width = unsafe zbar_scanner_get_width(scanner)
        widths = (width, widths.0, widths.1, widths.2, widths.3, widths.4)
        guard unsafe zbar_decode_width(decoder, width) == ZBAR_QRCODE else { continue }
        // As `_zbar_find_qr` and `qr_handler` reckon, with a precision of two bits.
        let end = widths.0 &+ widths.1 &+ widths.2
        let start = end &+ widths.3
        func place(_ offset: UInt32) -> Int32 {
          Int32(truncatingIfNeeded: unsafe zbar_scanner_get_edge(scanner, offset, 2))
        }
        found(
          Line(
            across: (across << 2) + 2, start: place(start), length: place(end) &- place(start),
            before: place(start) &- place(start &+ widths.4 &+ (widths.5 &+ 1) / 2),
            after: place(widths.0 &+ (widths.1 &+ 1) / 2) &- place(end)))
      }
    }
  }
}

extension FinderSearch.Line {
  /// Whether this line of a column and one of a row cross.
  fileprivate func crosses(_ row: Self) -> Bool {
    row.start <= across && across < row.start + row.length && start <= row.across
      && row.across < start + length
  }

  fileprivate func matches(_ other: Self, within threshold: Int32) -> Bool {
    guard abs(start - other.start) <= threshold,
      abs(start + length - other.start - other.length) <= threshold
    else { return false }
    if before > 0, other.before > 0, abs(start - before - other.start + other.before) > threshold {
      return false
    }
    return after <= 0 || other.after <= 0
      || abs(start + length + after - other.start - other.length - other.after) <= threshold
  }
}
