using System.Buffers.Binary;
using System.Text;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;

namespace Treepie.Indexing.Searching;

/// <summary>
/// A position after a page of results, opaque to callers:
/// <code>
/// OFFSET  SIZE  MEANING
/// 0       1     1, the version
/// 1       8     hash of the index's store: entries of another index have other ids
/// 9       8     hash of the query and its order
/// 17      8     hash of the key
/// 25      …     the sort key of the last hit of the page, see KeyBuffer
/// </code>
/// </summary>
internal static class SearchPosition
{
    private const byte Version = 1;
    private const int StoreOffset = 1;
    private const int QueryOffset = 9;
    private const int KeyHashOffset = 17;
    private const int KeyOffset = 25;

    public static byte[] Encode(Guid store, IndexSchema schema, SearchRequest request, ReadOnlySpan<byte> key)
    {
        byte[] position = new byte[KeyOffset + key.Length];
        position[0] = Version;
        BinaryPrimitives.WriteUInt64LittleEndian(position.AsSpan(StoreOffset), Hash(store.ToByteArray()));
        BinaryPrimitives.WriteUInt64LittleEndian(position.AsSpan(QueryOffset), Hash(schema, request));
        BinaryPrimitives.WriteUInt64LittleEndian(position.AsSpan(KeyHashOffset), Hash(key));
        key.CopyTo(position.AsSpan(KeyOffset));
        return position;
    }

    /// <summary>Returns the sort key of a position; empty for an empty one.</summary>
    /// <exception cref="IndexQueryException">The position belongs to another index or query, or is damaged.</exception>
    public static ReadOnlyMemory<byte> Decode(Guid store, IndexSchema schema, SearchRequest request)
    {
        ReadOnlyMemory<byte> position = request.After;
        if (position.IsEmpty)
            return default;
        if (position.Length < KeyOffset + sizeof(long) || position.Span[0] != Version)
            throw new IndexQueryException("The position to continue from is not the end of a page of results.");

        ReadOnlySpan<byte> bytes = position.Span;
        if (BinaryPrimitives.ReadUInt64LittleEndian(bytes[KeyHashOffset..]) != Hash(bytes[KeyOffset..]))
            throw new IndexQueryException("The position to continue from is damaged. Begin with the first page again.");
        if (BinaryPrimitives.ReadUInt64LittleEndian(bytes[StoreOffset..]) != Hash(store.ToByteArray()))
            throw new IndexQueryException(
                "The position to continue from is of another index, or of this one before it was rebuilt. Begin with the first "
                    + "page again.");
        if (BinaryPrimitives.ReadUInt64LittleEndian(bytes[QueryOffset..]) != Hash(schema, request))
            throw new IndexQueryException(
                "The position to continue from is of another query: condition, order and parameters must be those of the page it "
                    + "ended.");
        return position[KeyOffset..];
    }

    private static ulong Hash(IndexSchema schema, SearchRequest request) =>
        Hash(Encoding.UTF8.GetBytes(QueryText.Of(request, schema)));

    /// <summary>FNV-1a. Detects mistakes, not forgery, which would gain nothing.</summary>
    private static ulong Hash(ReadOnlySpan<byte> bytes)
    {
        ulong hash = 14695981039346656037UL;
        foreach (byte value in bytes)
            hash = unchecked((hash ^ value) * 1099511628211UL);
        return hash;
    }
}
