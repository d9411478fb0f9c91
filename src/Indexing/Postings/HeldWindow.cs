using System.Diagnostics;
using System.Runtime.InteropServices;
using Treepie.Indexing.Kernels;
using Treepie.Storage.Memory;

namespace Treepie.Indexing.Postings;

/// <summary>The location of the postings of one window of a long list, and its segment.</summary>
/// <param name="Window">The window.</param>
/// <param name="Count">Its postings.</param>
/// <param name="Bytes">Their length in bytes.</param>
/// <param name="Rest">These bytes and the following ones of the segment; valid as long as the transaction keeps its
/// pages.</param>
/// <param name="Segment">First window of the segment.</param>
/// <param name="SegmentWindows">Windows of the segment.</param>
/// <param name="WindowIndex">The index of the window in it.</param>
internal readonly record struct HeldWindow(
    long Window, int Count, int Bytes, HeldBytes Rest, long Segment, int SegmentWindows, int WindowIndex)
{
    public PostingWindow Postings => new(Count, Payload);

    /// <summary>The offsets of a LIST, followed by readable bytes without meaning.</summary>
    public ReadOnlySpan<ushort> PaddedOffsets => MemoryMarshal.Cast<byte, ushort>(Rest.Span);

    /// <summary>The bitmap of BITS.</summary>
    public ReadOnlySpan<byte> Bitmap => Rest.Span[..BitmapKernels.Bytes];

    private ReadOnlySpan<byte> Payload => Rest.Span[..Bytes];

    /// <summary>Whether an entry is among the postings.</summary>
    public bool Contains(ushort entry) => Count switch
    {
        < PostingWindow.MinBitsCount => PaddedOffsets[..Count].Contains(entry),
        < PostingWindow.Size => (Bitmap[entry >> 3] >> (entry & 7) & 1) != 0,
        _ => true,
    };

    /// <summary>
    /// The offsets of a LIST with enough readable bytes after them for kernels that compare whole vectors; empty for other forms
    /// or if too few bytes follow.
    /// </summary>
    public ReadOnlySpan<ushort> Vectors
    {
        get
        {
            ReadOnlySpan<ushort> all = Count < PostingWindow.MinBitsCount ? PaddedOffsets : default;
            return all.Length >= Count + OffsetKernels.Few ? all : default;
        }
    }

    /// <summary>
    /// Copies those ascending entries that are among the postings and returns their number. Source and target may be the
    /// same span.
    /// </summary>
    public int CopyCommon(ReadOnlySpan<ushort> entries, Span<ushort> common)
    {
        Debug.Assert(common.Length >= entries.Length, "all entries may be common");
        if (Count is >= PostingWindow.MinBitsCount and < PostingWindow.Size)
            return OffsetKernels.Copy(entries, MemoryMarshal.Cast<byte, ulong>(Bitmap), common);
        entries.CopyTo(common);
        return Postings.Keep(common[..entries.Length], wanted: true);
    }

    /// <summary>Sets the bits of its entries in a bitmap.</summary>
    public void AddTo(Span<ulong> words)
    {
        Debug.Assert(words.Length == BitmapKernels.Words, "the bitmap covers exactly one window");
        if (Count >= PostingWindow.Size)
            words.Fill(ulong.MaxValue);
        else if (Count >= PostingWindow.MinBitsCount)
            BitmapKernels.Combine<OrOperation>(words, Bitmap);
        else if (PaddedOffsets.Length >= Count + BitmapKernels.SetPadding)
            BitmapKernels.SetPadded(words, PaddedOffsets, Count);
        else
            BitmapKernels.Set(words, PaddedOffsets[..Count]);
    }

    /// <summary>Counts the entries of a bitmap that are among the postings.</summary>
    public int CountIn(ReadOnlySpan<ulong> words) => Count switch
    {
        < PostingWindow.MinBitsCount => BitmapKernels.CountIn(words, PaddedOffsets[..Count]),
        < PostingWindow.Size => BitmapKernels.CountBoth(words, Bitmap),
        _ => BitmapKernels.Count(words),
    };

    /// <summary>Prefetches the impacts, and the ids if <paramref name="withIds"/>.</summary>
    public void PrefetchImpacts(bool withIds)
    {
        int ids = PostingWindow.IdBytes(Count), end = Math.Min(Bytes, ids + PostingWindow.ImpactBytes(Count));
        PrefetchKernels.Prefetch(Rest.Span[(withIds ? 0 : Math.Min(ids, end))..end]);
    }

    /// <summary>Prefetches what the lookup of a frequency reads.</summary>
    public void PrefetchFrequencies()
    {
        const int LineBytes = 64;
        PrefetchKernels.Prefetch(
            Rest.Span[..Math.Min(Bytes, PostingWindow.IdBytes(Count) + PostingWindow.ImpactBytes(Count) + LineBytes)]);
    }

    /// <summary>Prefetches what a membership test of entries reads, and the impacts.</summary>
    public void PrefetchWithImpacts(ReadOnlySpan<ushort> entries)
    {
        Prefetch(entries);
        if (Count is >= PostingWindow.MinBitsCount and < PostingWindow.Size)
            PrefetchKernels.Prefetch(Rest.Span[BitmapKernels.Bytes..Math.Min(Bytes, BitmapKernels.Bytes + PostingWindow.Blocks)]);
    }

    /// <summary>
    /// Prefetches what a membership test of entries reads: the cache lines of those entries in a bitmap, or all of a list.
    /// </summary>
    public void Prefetch(ReadOnlySpan<ushort> entries)
    {
        if (Count is >= PostingWindow.MinBitsCount and < PostingWindow.Size)
            PrefetchKernels.PrefetchBits(Rest.Span, entries);
        else
            PrefetchIds();
    }

    /// <summary>Prefetches all ids.</summary>
    public void PrefetchIds() => PrefetchKernels.Prefetch(Rest.Span[..PostingWindow.IdBytes(Count)]);
}
