import Foundation

#if canImport(FoundationXML)
  import FoundationXML
#endif

/// Reads an XML document into elements, within bounds and without document types: nothing is expanded or fetched.
final class MarkupReader: NSObject, XMLParserDelegate {
  static let maximumDepth = 32
  static let maximumElementCount = 400_000
  /// Errors that a document is read in spite of, such as a prefix without a namespace.
  static let maximumErrorCount = 100

  private var open: [MarkupElement] = []
  private var root: MarkupElement?
  private var count = 0
  private var errorCount = 0
  private var failure: InterchangeFailure?

  /// The root element.
  ///
  /// - Parameter bytes: The document, in UTF-8.
  /// - Returns: The element with everything in it.
  /// - Throws: ``InterchangeFailure/xml(reason:)``.
  static func read(_ bytes: [UInt8]) throws(InterchangeFailure) -> MarkupElement {
    try refuseDocumentTypes(bytes)
    let reader = MarkupReader()
    let parser = XMLParser(data: Data(bytes))
    parser.shouldProcessNamespaces = true
    parser.shouldResolveExternalEntities = false
    parser.delegate = reader
    let isWhole = parser.parse()
    if let failure = reader.failure { throw failure }
    guard isWhole, let root = reader.root else { throw .xml(reason: "is malformed") }
    return root
  }

  /// Refuses what could declare entities, and encodings in which that could hide.
  private static func refuseDocumentTypes(_ bytes: [UInt8]) throws(InterchangeFailure) {
    guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else { throw .notUTF8 }
    for mark in text.ranges(of: "<!") {
      let rest = text[mark.upperBound...]
      guard rest.hasPrefix("--") || rest.hasPrefix("[CDATA[") else {
        throw .xml(reason: "has a document type, which is not read")
      }
    }
    guard text.hasPrefix("<?xml"), let end = text.firstRange(of: "?>") else { return }
    let declaration = InterchangeText.lowercased(text[..<end.lowerBound])
    guard let mark = declaration.firstRange(of: "encoding") else { return }
    let name = declaration[mark.upperBound...].drop { " =\t\r\n\"'".contains($0) }
      .prefix { $0 != "\"" && $0 != "'" }
    guard name == "utf-8" || name == "us-ascii" else {
      throw .xml(reason: "is in another encoding than UTF-8")
    }
  }

  private func stop(_ parser: XMLParser, _ reason: String) {
    if failure == nil { failure = .xml(reason: reason) }
    parser.abortParsing()
  }

  func parser(
    _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?, qualifiedName: String?,
    attributes: [String: String] = [:]
  ) {
    count += 1
    guard count <= Self.maximumElementCount else { return stop(parser, "has too many elements") }
    guard open.count < Self.maximumDepth else { return stop(parser, "is nested too deep") }
    let name = elementName.split(separator: ":").last.map(String.init) ?? elementName
    open.append(MarkupElement(namespace: namespaceURI ?? "", name: name, attributes: attributes))
  }

  func parser(_ parser: XMLParser, didEndElement: String, namespaceURI: String?, qualifiedName: String?) {
    guard var element = open.popLast() else { return }
    element.text = InterchangeText.trimmed(element.text)
    if open.isEmpty { root = element } else { open[open.count - 1].children.append(element) }
  }

  /// FoundationXML does not give back the memory of an error that it tells, so a document has few.
  func parser(_ parser: XMLParser, parseErrorOccurred parseError: any Error) {
    errorCount += 1
    if errorCount > Self.maximumErrorCount { stop(parser, "has too many errors") }
  }

  func parser(_ parser: XMLParser, foundCharacters string: String) {
    guard !open.isEmpty else { return }
    open[open.count - 1].text += string
  }

  func parser(_ parser: XMLParser, foundCDATA block: Data) {
    guard !open.isEmpty else { return }
    open[open.count - 1].text += String(decoding: block, as: UTF8.self)
  }
}
