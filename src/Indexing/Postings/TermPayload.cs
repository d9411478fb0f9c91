using System.Buffers.Binary;
using System.Diagnostics;

namespace Treepie.Indexing.Postings;

/// <summary>
/// What stands beside a term in its dictionary, read in place.
/// <code>
/// OFFSET  SIZE  MEANING
/// 0       1     kind
/// SINGLE (1), one entry, as most terms have:
/// 1       8     entry id
/// 9       4     frequency; absent if 1
/// INLINE (2), up to 256 entries:
/// 1       4     number of entries
/// 5       …     a <see cref="PostingSegment"/>
/// LONG (3):
/// 1       8     number of entries
/// 9       8     list id: its segments lie in the postings tree under (list id, first window), both big-endian
/// </code>
/// </summary>
internal readonly ref struct TermPayload
{
    public const int LongBytes = 17;
    public const int InlineHeaderBytes = 5;
    public const int MaxSingleBytes = 13;

    private readonly ReadOnlySpan<byte> bytes;

    public TermPayload(ReadOnlySpan<byte> bytes)
    {
        Debug.Assert(bytes.Length >= 9 && bytes[0] is >= 1 and <= 3);
        this.bytes = bytes;
    }

    public PostingKind Kind => (PostingKind)bytes[0];

    /// <summary>Number of entries that have the term.</summary>
    public long EntryCount => Kind switch
    {
        PostingKind.Single => 1,
        PostingKind.Inline => BinaryPrimitives.ReadInt32LittleEndian(bytes[1..]),
        _ => BinaryPrimitives.ReadInt64LittleEndian(bytes[1..]),
    };

    public long SingleId => BinaryPrimitives.ReadInt64LittleEndian(bytes[1..]);

    public int SingleFrequency => bytes.Length == MaxSingleBytes ? BinaryPrimitives.ReadInt32LittleEndian(bytes[9..]) : 1;

    public PostingSegment Segment => new(bytes[InlineHeaderBytes..]);

    public long ListId => BinaryPrimitives.ReadInt64LittleEndian(bytes[9..]);

    public static int WriteSingle(Span<byte> output, long id, int frequency)
    {
        output[0] = (byte)PostingKind.Single;
        BinaryPrimitives.WriteInt64LittleEndian(output[1..], id);
        if (frequency == 1)
            return 9;

        BinaryPrimitives.WriteInt32LittleEndian(output[9..], frequency);
        return MaxSingleBytes;
    }

    public static void WriteInlineHeader(Span<byte> output, int entryCount)
    {
        output[0] = (byte)PostingKind.Inline;
        BinaryPrimitives.WriteInt32LittleEndian(output[1..], entryCount);
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
    /// <summary>Beside the term, one entry.</summary>
    Single = 1,

    /// <summary>Beside the term, one segment.</summary>
    Inline = 2,

    /// <summary>In the postings tree.</summary>
    Long = 3,
}
