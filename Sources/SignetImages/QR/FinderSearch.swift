import CZBar

/// Counts zbar's work on a picture in advance.
///
/// A QR code has a finder pattern in three corners (ISO/IEC 18004 section 6.3.3): on a line through its middle, dark and
/// light runs of 1:1:3:1:1. zbar searches every row and column for such lines and joins neighbours to clusters. It crosses
/// each cluster of rows with each of columns, and tries all triples of crossings. A picture full of patterns therefore
/// takes minutes.
///
/// This type finds the lines with the same functions of zbar and joins them as zbar does (`qr_finder_cluster_lines` of
/// zbar 0.23). It rejects a picture with more work than ``Limits``, which are far beyond any picture of codes. It counts work
/// and never measures time.
package struct FinderSearch {
  package struct Limits: Hashable, Sendable {
    /// Lines through patterns in one direction.
    package var lines = 150_000
    /// Comparisons of lines in one direction.
    package var comparisons = 50_000_000
    /// Crossed pairs of clusters.
    package var crossings = 50_000_000
    /// The sum over triples of crossings of the mean number of lines per crossing; a triple with one line costs about 3 µs.
    package var triples = 2_500_000

    package init() {}
  }

  package struct Work: Hashable, Sendable {
    /// Lines in both directions.
    package var lines = 0
    package var comparisons = 0
    /// Clusters of lines in rows, and in columns.
    package var clusters = [0, 0]
    package var crossings: Int { clusters[0] * clusters[1] }
    /// The sum over triples of crossings, in zbar's order until it stops, of the mean number of lines per crossing.
    package var triples = 0
  }

  private let limits: Limits
  /// The work counted so far.
  package private(set) var work = Work()

  package init(_ limits: Limits = Limits()) { self.limits = limits }

  /// Counts the work for a picture.
  ///
  /// - Throws: ``QRFailure/tooManyPatterns`` as soon as a limit is exceeded, and ``QRFailure/library(call:)``.
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

  /// Returns the number of lines of each crossing: those of all its clusters (`qr_finder_find_crossings`).
  private static func crossings(of rows: [Cluster], with columns: [Cluster]) -> [Int] {
    var isUsed = (rows: [Bool](repeating: false, count: rows.count), columns: columns.map { _ in false })
    var crossings: [Int] = []
    for first in rows.indices where !isUsed.rows[first] {
      let row = rows[first].middle
      let found = columns.indices.filter { !isUsed.columns[$0] && columns[$0].middle.crosses(row) }
      guard !found.isEmpty else { continue }
      for index in found { isUsed.columns[index] = true }
      var lines = rows[first].lines + found.reduce(0) { $0 + columns[$1].lines }
      // The middle column decides which other rows belong to the crossing.
      let column = columns[found[found.count / 2]].middle
      for other in rows.indices[(first + 1)...]
      where !isUsed.rows[other] && column.crosses(rows[other].middle) {
        isUsed.rows[other] = true
        lines += rows[other].lines
      }
      crossings.append(lines)
    }
    return crossings
  }

  /// Returns the work of the triples that zbar tries before it stops (`qr_reader_match_centers`).
  ///
  /// zbar begins with the crossings that have the most lines. Among hundreds of small patterns, a single large one is
  /// therefore in each triple. The result is the maximum for any order: an earlier position is in at least as many triples
  /// as a later one.
  ///
  /// - Parameters:
  ///   - crossings: The number of lines of each crossing.
  ///   - limit: The number of triples after which zbar stops.
  /// - Returns: The sum over the triples of the mean number of lines of their three crossings.
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

  fileprivate struct Cluster {
    let middle: Line
    let lines: Int
  }

  /// The middle of a pattern in one row or column, in quarters of a pixel.
  fileprivate struct Line {
    let across: Int32
    let start: Int32
    let length: Int32
    /// The distance from the middle of the preceding dark run to the start; `after` is that from the end to the middle of
    /// the next one.
    let before: Int32
    let after: Int32
  }

  private func lines(of image: borrowing GreyImage, isVertical: Bool) throws(QRFailure) -> [Line] {
    let reader = try ScanlineReader()
    var lines: [Line] = []
    let (width, height) = (image.width, image.height)
    let limit = limits.lines
    try unsafe image.withUnsafePixels { pixels throws(QRFailure) in
      let (count, length) = isVertical ? (width, height) : (height, width)
      // Pixels of a column are rows apart, each in another page of memory, so several columns are copied at a time.
      let columns = UnsafeMutableRawPointer.allocate(
        byteCount: isVertical ? Self.columnsAtATime * height : 1, alignment: 64)
      defer { unsafe columns.deallocate() }
      for across in 0..<count {
        let column = across % Self.columnsAtATime
        if isVertical, column == 0 {
          let copied = min(Self.columnsAtATime, width - across)
          for y in 0..<height {
            for x in 0..<copied {
              let pixel = unsafe pixels.load(fromByteOffset: y * width + across + x, as: UInt8.self)
              unsafe columns.storeBytes(of: pixel, toByteOffset: x * height + y, as: UInt8.self)
            }
          }
        }
        let line = unsafe isVertical ? columns + column * height : pixels + across * width
        unsafe reader.read(across: Int32(across), from: line, count: length) { lines.append($0) }
        guard lines.count <= limit else { throw .tooManyPatterns }
      }
    }
    return lines
  }

  private static let columnsAtATime = 64

  private mutating func clusters(of lines: [Line]) throws(QRFailure) -> [Cluster] {
    var isUsed = [Bool](repeating: false, count: lines.count)
    var neighbours: [Int] = []
    var clusters: [Cluster] = []
    for first in lines.indices where !isUsed[first] {
      neighbours.removeAll(keepingCapacity: true)
      neighbours.append(first)
      var (last, length) = (lines[first], Int(lines[first].length))
      var next = first + 1
      while next < lines.count {
        defer { next += 1 }
        if isUsed[next] { continue }
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
      // A third of the number for a pattern of this length.
      guard neighbours.count * (5 << 2) >= average else { continue }
      for index in neighbours { isUsed[index] = true }
      clusters.append(Cluster(middle: lines[neighbours[neighbours.count / 2]], lines: neighbours.count))
    }
    return clusters
  }

  /// zbar's scanner of a row of pixels and its decoder of run widths, destroyed with their single owner.
  @safe private struct ScanlineReader: ~Copyable {
    private let scanner: OpaquePointer
    private let decoder: OpaquePointer

    init() throws(QRFailure) {
      guard let decoder = unsafe zbar_decoder_create() else { throw .library(call: "zbar_decoder_create") }
      // A scanner without a decoder reports edges, and the caller computes the widths.
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

    /// Reads a row of `count` pixels, one byte each.
    func read(across: Int32, from pixels: UnsafeRawPointer, count: Int, _ found: (Line) -> Void) {
      _ = unsafe zbar_scanner_new_scan(scanner)
      unsafe zbar_decoder_new_scan(decoder)
      // The last six widths, the newest first.
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
        // The same computation as in `_zbar_find_qr` and `qr_handler`, with a precision of two bits.
        let end = widths.0 &+ widths.1 &+ widths.2
        let start = end &+ widths.3
        func edgePosition(_ offset: UInt32) -> Int32 {
          Int32(truncatingIfNeeded: unsafe zbar_scanner_get_edge(scanner, offset, 2))
        }
        found(
          Line(
            across: (across << 2) + 2, start: edgePosition(start),
            length: edgePosition(end) &- edgePosition(start),
            before: edgePosition(start) &- edgePosition(start &+ widths.4 &+ (widths.5 &+ 1) / 2),
            after: edgePosition(widths.0 &+ (widths.1 &+ 1) / 2) &- edgePosition(end)))
      }
    }
  }
}

extension FinderSearch.Line {
  /// True if this line of a column crosses a line of a row.
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
