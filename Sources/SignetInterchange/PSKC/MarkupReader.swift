import CLibXML2
import SignetSystem

/// An XML element with its content.
struct MarkupElement {
  let namespace: String
  /// The name without prefix.
  let name: String
  /// The attributes by name, with prefixes.
  let attributes: [String: String]
  var children: [MarkupElement] = []
  /// The text of the element without that of its children, trimmed.
  var text = ""

  /// Returns the first child with this name, in any namespace.
  subscript(name: String) -> MarkupElement? { children.first { $0.name == name } }

  /// Returns the descendant at a path of names.
  func element(_ names: String...) -> MarkupElement? {
    var current: MarkupElement? = self
    for name in names { current = current?[name] }
    return current
  }

  /// Returns the text of the descendant at a path of names; `nil` if it is missing or empty.
  func text(_ names: String...) -> String? {
    var current: MarkupElement? = self
    for name in names { current = current?[name] }
    guard let text = current?.text, !text.isEmpty else { return nil }
    return text
  }
}

/// A bounded parser of XML documents that rejects document types: nothing is expanded or fetched.
struct MarkupReader: ~Copyable {
  static let maximumDepth = 32
  static let maximumElementCount = 400_000

  private let reader: xmlTextReaderPtr
  /// The open elements, the outermost first.
  private var open: [MarkupElement] = []

  /// Parses a document.
  ///
  /// - Parameter bytes: The document, in UTF-8.
  /// - Returns: The root element.
  /// - Throws: ``InterchangeFailure/xml(reason:)``.
  static func read(_ bytes: [UInt8]) throws(InterchangeFailure) -> MarkupElement {
    try refuseDocumentTypes(bytes)
    guard let count = Int32(exactly: bytes.count) else { throw .xml(reason: "is too large") }
    let result = unsafe bytes.withUnsafeBytes { bytes -> Result<MarkupElement, InterchangeFailure> in
      do throws(InterchangeFailure) {
        var reader = try unsafe MarkupReader(bytes, count)
        return .success(try reader.root())
      } catch { return .failure(error) }
    }
    return try result.get()
  }

  /// Creates a parser; the bytes must stay valid for its lifetime.
  private init(_ bytes: UnsafeRawBufferPointer, _ count: Int32) throws(InterchangeFailure) {
    let options = XML_PARSE_NONET.rawValue | XML_PARSE_NOERROR.rawValue | XML_PARSE_NOWARNING.rawValue
    let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
    guard let reader = unsafe xmlReaderForMemory(start, count, nil, "UTF-8", Int32(options)) else {
      throw .xml(reason: "is malformed")
    }
    unsafe self.reader = reader
  }

  deinit { unsafe xmlFreeTextReader(reader) }

  /// Rejects markup that could declare entities, and encodings that could hide such markup.
  private static func refuseDocumentTypes(_ bytes: [UInt8]) throws(InterchangeFailure) {
    guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else { throw .notUTF8 }
    for range in text.ranges(of: "<!") {
      let rest = text[range.upperBound...]
      guard rest.hasPrefix("--") || rest.hasPrefix("[CDATA[") else {
        throw .xml(reason: "has a document type, which is not read")
      }
    }
    guard text.hasPrefix("<?xml"), let end = text.firstRange(of: "?>") else { return }
    let declaration = InterchangeText.lowercased(text[..<end.lowerBound])
    guard let range = declaration.firstRange(of: "encoding") else { return }
    let name = declaration[range.upperBound...].drop { " =\t\r\n\"'".contains($0) }
      .prefix { $0 != "\"" && $0 != "'" }
    guard name == "utf-8" || name == "us-ascii" else {
      throw .xml(reason: "is in another encoding than UTF-8")
    }
  }

  private mutating func root() throws(InterchangeFailure) -> MarkupElement {
    var (root, count) = (MarkupElement?.none, 0)
    while true {
      let status = unsafe xmlTextReaderRead(reader)
      guard status >= 0 else { throw .xml(reason: "is malformed") }
      guard status > 0 else { break }
      let kind = unsafe xmlReaderTypes(UInt32(bitPattern: xmlTextReaderNodeType(reader)))
      switch kind {
      case XML_READER_TYPE_ELEMENT:
        count += 1
        guard count <= Self.maximumElementCount else { throw .xml(reason: "has too many elements") }
        guard open.count < Self.maximumDepth else { throw .xml(reason: "is nested too deep") }
        let isEmpty = unsafe xmlTextReaderIsEmptyElement(reader) == 1
        open.append(element())
        if isEmpty { close(into: &root) }
      case XML_READER_TYPE_END_ELEMENT: close(into: &root)
      case XML_READER_TYPE_TEXT, XML_READER_TYPE_CDATA, XML_READER_TYPE_SIGNIFICANT_WHITESPACE:
        guard !open.isEmpty else { continue }
        open[open.count - 1].text += unsafe Self.text(xmlTextReaderConstValue(reader))
      default: continue
      }
    }
    guard let root else { throw .xml(reason: "is malformed") }
    return root
  }

  /// Reads the start of the current element.
  private func element() -> MarkupElement {
    let name = unsafe Self.text(xmlTextReaderConstLocalName(reader))
    var attributes: [String: String] = [:]
    while unsafe xmlTextReaderMoveToNextAttribute(reader) == 1 {
      attributes[unsafe Self.text(xmlTextReaderConstName(reader))] =
        unsafe Self.text(xmlTextReaderConstValue(reader))
    }
    _ = unsafe xmlTextReaderMoveToElement(reader)
    // If a prefix has no namespace, the local name still includes it.
    return MarkupElement(
      namespace: unsafe Self.text(xmlTextReaderConstNamespaceUri(reader)),
      name: name.split(separator: ":").last.map(String.init) ?? name, attributes: attributes)
  }

  /// Completes the innermost open element.
  private mutating func close(into root: inout MarkupElement?) {
    guard var element = open.popLast() else { return }
    element.text = element.text.trimmed
    if open.isEmpty { root = element } else { open[open.count - 1].children.append(element) }
  }

  /// Copies a text of libxml2: it is UTF-8 and owned by the reader.
  private static func text(_ text: UnsafePointer<xmlChar>?) -> String {
    unsafe text.map { unsafe String(cString: $0) } ?? ""
  }
}
