using System.Text.Unicode;

namespace Treepie.Json;

/// <summary>
/// The entry point of this folder: validates a document as received (UTF-8 JSON), with precise error messages, and splits it into
/// two minified parts: the body, and <c>@metadata</c> without the keys that the database sets itself. Works in one pass without
/// recursion, so neither depth nor size can do harm; numbers and strings keep their spelling. Reuses its buffers; not
/// thread-safe.
/// </summary>
internal sealed class DocumentParser
{
    private const int KeptMetadataBytes = 64 * 1024;

    public DocumentParser(int maxDocumentBytes, int maxDepth)
    {
        MaxDocumentBytes = maxDocumentBytes;
        MaxDepth = maxDepth;
    }

    public int MaxDocumentBytes { get; }

    public int MaxDepth { get; }

    /// <summary>
    /// The collection name found by the last parse, in UTF-8, unescaped; empty if there was none. Valid until the next parse.
    /// </summary>
    public ReadOnlySpan<byte> Collection => CollectionBuffer.AsSpan(0, CollectionLength);

    /// <summary>
    /// Whether <c>@flags</c> is dropped from the metadata, because clients send back the flags that they received.
    /// </summary>
    public bool DropsFlags { get; set; }

    internal KeyScopes Keys { get; } = new();

    internal DocumentScan.Scope[] Scopes { get; set; } = new DocumentScan.Scope[16];

    internal byte[] MetadataBuffer { get; set; } = [];

    internal byte[] CollectionBuffer { get; set; } = [];

    internal int CollectionLength { get; set; }

    /// <summary>
    /// Parses <paramref name="json"/> into <paramref name="output"/>, which must be at least as long. <paramref name="id"/> is
    /// used in error messages; <paramref name="dropRootMember"/> names a member of the document to drop.
    /// </summary>
    /// <exception cref="InvalidDocumentException">The document is not valid; the message says what is wrong, where, and what
    /// to do.</exception>
    public ParsedDocument Parse(
        string id, ReadOnlySpan<byte> json, Span<byte> output, ReadOnlySpan<byte> dropRootMember = default)
    {
        if (json.Length > MaxDocumentBytes)
        {
            throw new InvalidDocumentException(
                $"Document '{id}' has {json.Length:N0} bytes, the limit is {MaxDocumentBytes:N0} (MaxDocumentBytes). Split it, "
                    + $"or open the database with a higher limit.");
        }

        if (!Utf8.IsValid(json))
            throw JsonErrors.InvalidUtf8(id, json);

        Keys.Reset();
        CollectionLength = 0;
        ParsedDocument parsed = new DocumentScan(this, id, json, output, dropRootMember).Run();
        if (MetadataBuffer.Length > KeptMetadataBytes)
            MetadataBuffer = [];
        return parsed;
    }
}
