using System.Buffers;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Postings;

/// <summary>
/// A short list, read in place beside its term (see <see cref="TermPayload"/>):
/// <code>
/// number of entries (varint), bytes of the entries (varint)
/// by entry: (id − id before) · 2 + (1 if its frequency is above 1) (varint), then, if it is, the frequency (varint)
/// where the list keeps positions, by entry: first position, then distances (varint each)
/// </code>
/// Of a list of one entry the first line is not there.
/// Walked once, forward; the positions are passed over unless asked for.
/// </summary>
internal ref struct FlatPostings
{
    /// <summary>Most entries of such a list: a reader decodes it whole when it prepares.</summary>
    public const int MaxEntries = 256;

    /// <summary>Longest such list: a leaf of 8 KiB still holds seven.</summary>
    public const int MaxBytes = 1_024;

    private ReadOnlySpan<byte> entries;
    private ReadOnlySpan<byte> positions;
    private long lastId;

    public FlatPostings(ReadOnlySpan<byte> bytes)
    {
        Count = Varint.Read(ref bytes);
        int length = Varint.Read(ref bytes);
        entries = bytes[..length];
        positions = bytes[length..];
    }

    private FlatPostings(ReadOnlySpan<byte> entries, ReadOnlySpan<byte> positions)
    {
        Count = 1;
        this.entries = entries;
        this.positions = positions;
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
        return new FlatPostings(bytes[..^rest.Length], rest);
    }

    /// <summary>Goes to the next entry.</summary>
    public bool MoveNext(out Posting posting)
    {
        if (entries.IsEmpty)
        {
            posting = default;
            return false;
        }

        long step = Varint.ReadLong(ref entries);
        lastId += step >> 1;
        posting = new Posting(lastId, (step & 1) == 0 ? 1 : Varint.Read(ref entries));
        return true;
    }

    /// <summary>The encoded positions of the entry just moved to; asked for exactly once for each entry, or for none. Empty where none are kept.</summary>
    public ReadOnlySpan<byte> TakePositions(Posting posting)
    {
        int length = VarintKernels.Skip(positions, posting.Frequency);
        ReadOnlySpan<byte> mine = positions[..length];
        positions = positions[length..];
        return mine;
    }

    /// <summary>Encodes a run into <paramref name="output"/>; 0 if it does not fit into <see cref="MaxBytes"/> or is of more than <see cref="MaxEntries"/>.</summary>
    public static int Encode(PostingRun run, Span<byte> output)
    {
        if (run.Count > MaxEntries)
            return 0;

        // At most 15 bytes an entry; rented, as it is longer than what is kept.
        byte[] scratch = ArrayPool<byte>.Shared.Rent(MaxEntries * (Varint.MaxLongBytes + Varint.MaxBytes));
        int length = 0;
        int positionBytes = 0;
        long last = 0;
        for (int i = 0; i < run.Count; i++)
        {
            Posting posting = run[i];
            length += Varint.WriteLong(scratch.AsSpan(length), ((posting.EntryId - last) * 2) + (posting.Frequency > 1 ? 1 : 0));
            if (posting.Frequency > 1)
                length += Varint.Write(scratch.AsSpan(length), posting.Frequency);
            last = posting.EntryId;
            positionBytes += run.PositionsOf(i).Length;
        }

        int total = 0;
        if ((2 * Varint.MaxBytes) + length + positionBytes <= MaxBytes)
        {
            if (run.Count > 1)
            {
                total = Varint.Write(output, run.Count);
                total += Varint.Write(output[total..], length);
            }

            scratch.AsSpan(0, length).CopyTo(output[total..]);
            total += length;
            for (int i = 0; i < run.Count; i++)
            {
                run.PositionsOf(i).CopyTo(output[total..]);
                total += run.PositionsOf(i).Length;
            }
        }

        ArrayPool<byte>.Shared.Return(scratch);
        return total;
    }
}
