using System.Diagnostics;
using System.Runtime.CompilerServices;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Terms;
using Treepie.Storage;

namespace Treepie.Indexing.Postings;

/// <summary>
/// A short posting list, read in place from the value of its term (see <see cref="TermPayload"/>):
/// <code>
/// number of entries (varint), bytes of the entries (varint)
/// per entry: (id − previous id) · 2 + (1 if its frequency is above 1) (varint), then in that case the frequency (varint)
/// if the list has positions, per entry: first position, then distances (varint each)
/// </code>
/// A list of one entry has no first line.
/// Read once, forward; positions are skipped unless requested. Invariant: 1. Ids ascend.
/// </summary>
internal ref struct FlatPostings
{
    /// <summary>Most entries of a short list: a reader decodes the whole list when it opens.</summary>
    public const int MaxEntries = 256;

    /// <summary>Longest short list: a leaf of 8 KiB still holds seven.</summary>
    public const int MaxBytes = 1_024;

    private readonly ReadOnlySpan<byte> _all;
    private ReadOnlySpan<byte> _entries;
    private ReadOnlySpan<byte> _positions;
    private long _lastId;

    public FlatPostings(ReadOnlySpan<byte> bytes)
    {
        Count = Varint.Read(ref bytes);
        int length = Varint.Read(ref bytes);
        _all = bytes;
        _entries = bytes[..length];
        _positions = bytes[length..];
    }

    private FlatPostings(ReadOnlySpan<byte> all, int length)
    {
        Count = 1;
        _all = all;
        _entries = all[..length];
        _positions = all[length..];
    }

    /// <summary>Entries of the whole list.</summary>
    public int Count { get; }

    /// <summary>Number of entries of a list, without reading it.</summary>
    public static int CountOf(ReadOnlySpan<byte> bytes) => Varint.Read(ref bytes);

    /// <summary>Reads a list of one entry.</summary>
    public static FlatPostings OfOne(ReadOnlySpan<byte> bytes)
    {
        ReadOnlySpan<byte> rest = bytes;
        if ((Varint.ReadLong(ref rest) & 1) != 0)
            Varint.Read(ref rest);
        return new FlatPostings(bytes, bytes.Length - rest.Length);
    }

    /// <summary>Moves to the next entry; false after the last.</summary>
    public bool MoveNext(out Posting posting)
    {
        if (_entries.IsEmpty)
        {
            posting = default;
            return false;
        }

        long step = Varint.ReadLong(ref _entries);
        _lastId += step >> 1;
        posting = new Posting(_lastId, (step & 1) == 0 ? 1 : Varint.Read(ref _entries));
        return true;
    }

    /// <summary>Copies all entries, without positions, and returns their number. Does not advance the list.</summary>
    /// <exception cref="CorruptionException">There are more entries than the span holds, or one is truncated.</exception>
    public readonly int CopyTo(Span<Posting> postings)
    {
        ReadOnlySpan<byte> bytes = _entries;
        long id = 0;
        int count = 0;
        for (int place = 0; place < bytes.Length; count++)
        {
            long step = ReadLong(bytes, ref place);
            id += step >> 1;
            int frequency = 1;
            if ((step & 1) != 0)
                frequency = place < bytes.Length ? (int)ReadLong(bytes, ref place) : throw Damaged();
            if (count == postings.Length)
                throw Damaged();
            postings[count] = new Posting(id, frequency);
        }

        return count;
    }

    /// <summary>Sets the bits of all entries in a bitmap. Must be called before the list is advanced.</summary>
    /// <exception cref="CorruptionException">An entry is beyond the end of the bitmap.</exception>
    public readonly void CopyTo(Span<ulong> bits)
    {
        if (!VarintKernels.SetEntries(bits, _all, _entries.Length))
            throw new CorruptionException("A list of entries in the index is damaged. Reset the index to build it again.");
    }

    /// <summary>The encoded positions of the entries not read yet; empty if the list has none.</summary>
    public readonly ReadOnlySpan<byte> Positions => _positions;

    /// <summary>
    /// Returns the encoded positions of the current entry; empty if the list has none. Must be called exactly once for every
    /// entry, or never.
    /// </summary>
    public ReadOnlySpan<byte> TakePositions(Posting posting)
    {
        int length = VarintKernels.Skip(_positions, posting.Frequency);
        ReadOnlySpan<byte> mine = _positions[..length];
        _positions = _positions[length..];
        return mine;
    }

    /// <summary>
    /// Encodes a run into <paramref name="output"/> and returns the bytes written; 0 if the run exceeds
    /// <see cref="MaxBytes"/> or <see cref="MaxEntries"/>.
    /// </summary>
    public static int Encode(PostingRun run, Span<byte> output) => Append(default, run, output);

    /// <summary>
    /// Encodes a list that was not advanced, followed by a run. The result is the same as that of <see cref="Encode"/> for
    /// both, but the old entries are copied without decoding them. Returns 0 if the result does not fit.
    /// </summary>
    public static int Append(FlatPostings old, PostingRun run, Span<byte> output)
    {
        int count = old.Count + run.Count;
        if (count > MaxEntries)
            return 0;
        ReadOnlySpan<byte> positions = run.Positions;
        if (!VarintKernels.TryLast(old._entries, out ulong lastId))
            throw Damaged();
        long lastOld = (long)lastId, last = lastOld;
        int more = 0;
        foreach (Posting posting in run.Postings)
        {
            Debug.Assert(posting.EntryId > last || (old.Count == 0 && posting.EntryId == 0), "1: ids ascend");
            more += Varint.BytesOf((posting.EntryId - last) * 2)
                + (posting.Frequency > 1 ? Varint.BytesOf(posting.Frequency) : 0);
            last = posting.EntryId;
        }

        if ((2 * Varint.MaxBytes) + old._entries.Length + more + old._positions.Length + positions.Length > MaxBytes)
            return 0;
        int length = 0;
        if (count > 1)
        {
            length = Varint.Write(output, count);
            length += Varint.Write(output[length..], old._entries.Length + more);
        }

        old._entries.CopyTo(output[length..]);
        length += old._entries.Length;
        last = lastOld;
        foreach (Posting posting in run.Postings)
        {
            length += Varint.WriteLong(output[length..], ((posting.EntryId - last) * 2) + (posting.Frequency > 1 ? 1 : 0));
            if (posting.Frequency > 1)
                length += Varint.Write(output[length..], posting.Frequency);
            last = posting.EntryId;
        }

        Debug.Assert(
            length == (count > 1 ? Varint.BytesOf(count) + Varint.BytesOf(old._entries.Length + more) : 0)
                + old._entries.Length + more,
            "the entries take the bytes written before them");
        old._positions.CopyTo(output[length..]);
        length += old._positions.Length;
        positions.CopyTo(output[length..]);
        return length + positions.Length;
    }

    /// <summary>
    /// Reads a varint. Most gaps take one byte, those of rare words two; another method reads longer numbers.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static long ReadLong(ReadOnlySpan<byte> entries, ref int place)
    {
        long first = entries[place++];
        if (first < 0x80)
            return first;
        if (place < entries.Length && entries[place] < 0x80)
            return (first & 0x7F) | ((long)entries[place++] << 7);
        return ReadLonger(entries, ref place);
    }

    /// <summary>Reads a number of more than two bytes whose first byte was already consumed.</summary>
    private static long ReadLonger(ReadOnlySpan<byte> entries, ref int place)
    {
        ReadOnlySpan<byte> rest = entries[(place - 1)..];
        long number = Varint.ReadLong(ref rest);
        place = entries.Length - rest.Length;
        return number;
    }

    private static CorruptionException Damaged() =>
        new("A list of entries in the index does not end. Reset the index to build it again.");
}
