using System.Text.Unicode;

namespace Treepie.Json;

/// <summary>
/// Front door of the room: takes one document as it came (UTF-8 JSON), says precisely what is wrong with it, or hands back its
/// two halves minified: the body, and <c>@metadata</c> without the keys the database gives itself. One pass without recursion, so
/// neither depth nor size can harm; numbers and strings are kept as they were written. Buffers are reused: one thread at a time.
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
    /// Name of the collection found by the last parse, UTF-8, unescaped; empty where none was given. Lives until the next parse.
    /// </summary>
    public ReadOnlySpan<byte> Collection => CollectionBuffer.AsSpan(0, CollectionLength);

    /// <summary>
    /// Whether <c>@flags</c> is left out of the metadata: what clients send of it is what they were given before.
    /// </summary>
    public bool DropsFlags { get; set; }

    internal KeyScopes Keys { get; } = new();

    internal DocumentScan.Scope[] Scopes { get; set; } = new DocumentScan.Scope[16];

    internal byte[] MetadataBuffer { get; set; } = [];

    internal byte[] CollectionBuffer { get; set; } = [];

    internal int CollectionLength { get; set; }

    /// <summary>
    /// Parses <paramref name="json"/> into <paramref name="output"/>, which has at least its length.
    /// <paramref name="id"/> is for messages; <paramref name="dropRootMember"/> names a member of the document to leave out.
    /// </summary>
    /// <exception cref="InvalidDocumentException">Says what is wrong, where, and what to do.</exception>
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
