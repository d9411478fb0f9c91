using System.Buffers.Binary;
using Treepie.Indexes.States;

namespace Treepie.Queries.Sources;

/// <summary>
/// A position in a scan of documents, opaque to callers. It names the last result of a page by what does not change while the
/// document does not, so that a later snapshot is gone on with:
/// <code>
/// OFFSET  SIZE  MEANING
/// 0       1     2, the version; positions in an index begin with 1
/// 1       8     hash of the database, of what is scanned, and of the last result
/// 9       …     the last result: its etag or its place in the list of ids (8 bytes, big-endian), or its folded id
/// </code>
/// Immutable.
/// </summary>
internal sealed class ScanPosition
{
    private const byte Version = 2;
    private const int HashOffset = 1;
    private const int LastOffset = 9;

    /// <summary>Detects mistakes, not forgery, which would gain nothing.</summary>
    private static readonly KeyedHash _hash = new(new byte[KeyedHash.KeyBytes]);

    private readonly byte[] _scanned;
    private readonly ReadOnlyMemory<byte> _after;

    private ScanPosition(byte[] scanned, ReadOnlyMemory<byte> after) => (_scanned, _after) = (scanned, after);

    /// <summary>The folded id to begin after, or null to begin with the first.</summary>
    public byte[]? AfterId => _after.IsEmpty ? null : _after.ToArray();

    /// <summary>The number to begin after, or a number before the first.</summary>
    public long AfterNumber => _after.IsEmpty ? -1 : BinaryPrimitives.ReadInt64BigEndian(_after.Span);

    /// <summary>Returns where a page begins.</summary>
    /// <param name="scanned">What is scanned, in which database.</param>
    /// <param name="isNumber">Whether results are named by numbers.</param>
    /// <param name="position">The position that the page before ended at; empty for the first page.</param>
    /// <exception cref="InvalidQueryException">The position is not one of such a scan.</exception>
    public static ScanPosition Of(byte[] scanned, bool isNumber, ReadOnlyMemory<byte> position)
    {
        if (position.IsEmpty)
            return new ScanPosition(scanned, default);
        bool isOne = position.Length > LastOffset && position.Span[0] == Version;
        if (!isOne || (isNumber && position.Length != LastOffset + sizeof(long)))
            throw new InvalidQueryException("The continuation is not the end of a page of such a query.");
        if (BinaryPrimitives.ReadUInt64LittleEndian(position.Span[HashOffset..]) != Hash(scanned, position.Span[LastOffset..]))
            throw new InvalidQueryException(
                "The continuation is of another query or database, or damaged: collection and ids have to be those of the page "
                    + "that it ended. Begin with the first page again.");
        return new ScanPosition(scanned, position[LastOffset..]);
    }

    /// <summary>Returns the position after a result with a number.</summary>
    public byte[] At(long number)
    {
        Span<byte> last = stackalloc byte[sizeof(long)];
        BinaryPrimitives.WriteInt64BigEndian(last, number);
        return At(last);
    }

    /// <summary>Returns the position after a result with a folded id.</summary>
    public byte[] At(ReadOnlySpan<byte> last)
    {
        byte[] position = new byte[LastOffset + last.Length];
        position[0] = Version;
        BinaryPrimitives.WriteUInt64LittleEndian(position.AsSpan(HashOffset), Hash(_scanned, last));
        last.CopyTo(position.AsSpan(LastOffset));
        return position;
    }

    private static ulong Hash(byte[] scanned, ReadOnlySpan<byte> last) => (ulong)_hash.Of([.. scanned, 0, .. last]);
}
