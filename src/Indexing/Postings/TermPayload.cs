using System.Buffers.Binary;
using System.Diagnostics;

namespace Treepie.Indexing.Postings;

/// <summary>
/// What stands beside a term in its dictionary, read in place.
/// <code>
/// OFFSET  SIZE  MEANING
/// 0       1     kind
/// FLAT (1), up to 256 entries, as nearly all terms have:
/// 1       …     <see cref="FlatPostings"/>
/// LONG (2):
/// 1       8     number of entries
/// 9       8     list id: its segments lie in the postings tree under (list id, first window), both big-endian,
///               its positions in the positions tree, see <see cref="PositionKey"/>
/// </code>
/// </summary>
internal readonly ref struct TermPayload
{
    public const int LongBytes = 17;
    public const int FlatHeaderBytes = 1;

    private readonly ReadOnlySpan<byte> bytes;

    public TermPayload(ReadOnlySpan<byte> bytes)
    {
        Debug.Assert(bytes.Length >= 4 && bytes[0] is 1 or 2);
        this.bytes = bytes;
    }

    public PostingKind Kind => (PostingKind)bytes[0];

    /// <summary>Number of entries that have the term.</summary>
    public long EntryCount => Kind == PostingKind.Flat ? FlatPostings.CountOf(bytes[FlatHeaderBytes..]) : BinaryPrimitives.ReadInt64LittleEndian(bytes[1..]);

    public FlatPostings Flat => new(bytes[FlatHeaderBytes..]);

    public long ListId => BinaryPrimitives.ReadInt64LittleEndian(bytes[9..]);

    /// <summary>Writes a short list; 0 if it is too long for that. <paramref name="output"/> holds 1 + <see cref="FlatPostings.MaxBytes"/>.</summary>
    public static int WriteFlat(Span<byte> output, PostingRun run)
    {
        output[0] = (byte)PostingKind.Flat;
        int length = FlatPostings.Encode(run, output[FlatHeaderBytes..]);
        return length == 0 ? 0 : FlatHeaderBytes + length;
    }

    public static void WriteLong(Span<byte> output, long entryCount, long listId)
    {
        output[0] = (byte)PostingKind.Long;
        BinaryPrimitives.WriteInt64LittleEndian(output[1..], entryCount);
        BinaryPrimitives.WriteInt64LittleEndian(output[9..], listId);
    }
}

/// <summary>Where the postings of a term are.</summary>
internal enum PostingKind
{
    /// <summary>Beside the term.</summary>
    Flat = 1,

    /// <summary>In the postings tree.</summary>
    Long = 2,
}
