using System.Buffers.Binary;
using System.Text;
using Treepie.Store;

namespace Treepie.Kinds;

/// <summary>
/// A counter of a document. It is stored in one part per database, whose sum is its value, so that the parts of databases which
/// replicate to each other add up. Each part, little-endian:
/// <code>
/// OFFSET SIZE MEANING
///      0   16 id of the database
///     16    8 its part of the value
/// </code>
/// </summary>
/// <param name="DocumentId">The id of the document, as requested.</param>
/// <param name="Name">The name, in the case in which it was first written; case-insensitive.</param>
/// <param name="Value">The value of the counter.</param>
/// <param name="Etag">The etag of its last change.</param>
/// <param name="ChangeVector">The change vector.</param>
public sealed record CounterValue(string DocumentId, string Name, long Value, long Etag, string ChangeVector)
{
    /// <summary>The size of a part in bytes.</summary>
    private const int PartBytes = 16 + sizeof(long);

    /// <summary>The parts of the value, each with its node and database as in change vectors.</summary>
    public IReadOnlyList<(string Node, long Value)> ByNode { get; init; } = [];

    /// <summary>Returns the sum of the parts.</summary>
    internal static long Sum(ReadOnlySpan<byte> parts)
    {
        long sum = 0;
        for (; parts.Length >= PartBytes; parts = parts[PartBytes..])
            sum = checked(sum + BinaryPrimitives.ReadInt64LittleEndian(parts[16..]));
        return sum;
    }

    /// <summary>Returns the part of a database; 0 if it has none.</summary>
    internal static long PartOf(ReadOnlySpan<byte> parts, Guid database)
    {
        int at = Find(parts, database);
        return at < 0 ? 0 : BinaryPrimitives.ReadInt64LittleEndian(parts[(at + 16)..]);
    }

    /// <summary>Returns the parts with that of a database replaced.</summary>
    internal static byte[] WithPart(ReadOnlySpan<byte> parts, Guid database, long value)
    {
        int at = Find(parts, database);
        byte[] changed = new byte[at < 0 ? parts.Length + PartBytes : parts.Length];
        parts.CopyTo(changed);
        at = at < 0 ? parts.Length : at;
        database.TryWriteBytes(changed.AsSpan(at));
        BinaryPrimitives.WriteInt64LittleEndian(changed.AsSpan(at + 16), value);
        return changed;
    }

    /// <summary>Returns the databases with their parts.</summary>
    internal static IReadOnlyList<(Guid Database, long Value)> Parts(ReadOnlySpan<byte> parts)
    {
        var found = new List<(Guid Database, long Value)>();
        for (int at = 0; at + PartBytes <= parts.Length; at += PartBytes)
            found.Add((new Guid(parts.Slice(at, 16)), BinaryPrimitives.ReadInt64LittleEndian(parts[(at + 16)..])));
        return found;
    }

    internal static CounterValue Read(string documentId, KindRecord record, ChangeVectors changeVectors) =>
        new(documentId, Encoding.UTF8.GetString(record.Name), Sum(record.Value), record.Etag, changeVectors.Format(record.Etag))
        {
            ByNode = [
                .. Parts(record.Value)
                    .Select(static part => ($"{ChangeVectors.NodeTag}:{ChangeVectors.TextOf(part.Database)}", part.Value))],
        };

    private static int Find(ReadOnlySpan<byte> parts, Guid database)
    {
        Span<byte> id = stackalloc byte[16];
        database.TryWriteBytes(id);
        for (int at = 0; at + PartBytes <= parts.Length; at += PartBytes)
            if (parts.Slice(at, 16).SequenceEqual(id))
                return at;
        return -1;
    }
}
