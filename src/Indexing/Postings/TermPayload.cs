using System.Diagnostics;
using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Postings;

/// <summary>
/// The value of a term in its dictionary, read in place.
/// <code>
/// SIZE  MEANING
/// 1     kind; plus 128 if the number of the word follows
/// …     in that case: number of the word (varint), see EntryRecord
/// FLAT (1), up to 256 entries, as nearly all terms have:
/// …     <see cref="FlatPostings"/>
/// SINGLE (3), one entry:
/// …     like <see cref="FlatPostings"/>, without the number and length of the entries
/// LONG (2):
/// …     number of entries (varint)
/// …     list id (varint): its segments are in the postings tree under (list id, first window), both big-endian,
///       its positions in the positions tree, see <see cref="PositionKey"/>
/// …     if the list has frequencies: its <see cref="ListHead"/>, up to the end
/// </code>
/// </summary>
internal readonly ref struct TermPayload
{
    /// <summary>Longest header: kind and number of the word.</summary>
    public const int MaxHeadBytes = 1 + Varint.MaxLongBytes;

    /// <summary>Longest value of a long list.</summary>
    public const int MaxLongBytes = MaxHeadBytes + (2 * Varint.MaxLongBytes) + ListHead.MaxBytes;

    private const int NumberFlag = 128;
    private const int Single = 3;

    private readonly ReadOnlySpan<byte> _bytes;
    private readonly ReadOnlySpan<byte> _list;
    private readonly bool _isSingle;

    /// <summary>Length in bytes of the value after the kind and the number of the word.</summary>
    public int Bytes => _list.Length;

    public TermPayload(ReadOnlySpan<byte> bytes)
    {
        _bytes = bytes;
        int kind = bytes[0] & ~NumberFlag;
        _isSingle = kind == Single;
        Kind = _isSingle ? PostingKind.Flat : (PostingKind)kind;
        Debug.Assert(Kind is PostingKind.Flat or PostingKind.Long);
        int start = 1;
        if ((bytes[0] & NumberFlag) != 0)
        {
            while (bytes[start] >= 0x80)
                start++;
            start++;
        }

        _list = bytes[start..];
        if (Kind == PostingKind.Flat)
        {
            EntryCount = _isSingle ? 1 : FlatPostings.CountOf(_list);
            return;
        }

        EntryCount = Varint.ReadLong(ref _list);
        ListId = Varint.ReadLong(ref _list);
    }

    public PostingKind Kind { get; }

    /// <summary>Number of the word; -1 if the term has none.</summary>
    public long Word
    {
        get
        {
            ReadOnlySpan<byte> number = _bytes[1..];
            return (_bytes[0] & NumberFlag) != 0 ? Varint.ReadLong(ref number) : -1;
        }
    }

    /// <summary>Number of entries that have the term.</summary>
    public long EntryCount { get; }

    public FlatPostings Flat => _isSingle ? FlatPostings.OfOne(_list) : new FlatPostings(_list);

    public long ListId { get; }

    /// <summary>The <see cref="ListHead"/> of a long list; empty if the list has no frequencies.</summary>
    public ReadOnlySpan<byte> Best => Kind == PostingKind.Long ? _list : default;

    /// <summary>
    /// Writes a short list and returns its length; 0 if it is too long to be one. <paramref name="output"/> holds
    /// <see cref="MaxHeadBytes"/> + <see cref="FlatPostings.MaxBytes"/>.
    /// </summary>
    public static int WriteFlat(Span<byte> output, long word, PostingRun run) => AppendFlat(output, word, default, run);

    /// <summary>Like <see cref="WriteFlat"/>, for an old list that was not advanced, followed by a run.</summary>
    public static int AppendFlat(Span<byte> output, long word, FlatPostings old, PostingRun run)
    {
        int head = WriteHead(output, old.Count + run.Count == 1 ? (PostingKind)Single : PostingKind.Flat, word);
        int length = FlatPostings.Append(old, run, output[head..]);
        return length == 0 ? 0 : head + length;
    }

    /// <summary>
    /// Writes the value of a long list, with its head, into <see cref="MaxLongBytes"/>; returns its length.
    /// </summary>
    public static int WriteLong(Span<byte> output, long word, long entryCount, long listId, ReadOnlySpan<byte> best)
    {
        Debug.Assert(best.Length <= ListHead.MaxBytes, "the head of a list is bounded");
        Debug.Assert(output.Length >= MaxHeadBytes + (2 * Varint.MaxLongBytes) + best.Length, "the value fits the buffer");
        int length = WriteHead(output, PostingKind.Long, word);
        length += Varint.WriteLong(output[length..], entryCount);
        length += Varint.WriteLong(output[length..], listId);
        best.CopyTo(output[length..]);
        return length + best.Length;
    }

    private static int WriteHead(Span<byte> output, PostingKind kind, long word)
    {
        output[0] = (byte)((int)kind | (word >= 0 ? NumberFlag : 0));
        return word >= 0 ? 1 + Varint.WriteLong(output[1..], word) : 1;
    }
}

/// <summary>Where the postings of a term are stored.</summary>
internal enum PostingKind
{
    /// <summary>In the value of the term.</summary>
    Flat = 1,

    /// <summary>In the postings tree.</summary>
    Long = 2,
}
