using System.Diagnostics;
using System.Runtime.CompilerServices;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Columns;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Postings;
using Treepie.Storage.Memory;

namespace Treepie.Indexing.Ranking;

/// <summary>
/// The length factors of a full-text field's entries in BM25: <c>k1 · (1 − b + b · length / average length)</c>. Shared by
/// all terms of the field in a query.
/// </summary>
/// <param name="norms">Lengths of the field.</param>
/// <param name="statistics">Statistics of the field.</param>
internal sealed class LengthFactors(ChunkReader norms, FieldStatistics statistics)
{
    private readonly float _perTerm =
        (float)(Bm25.K1 * Bm25.B * statistics.EntriesWithTerms / Math.Max(1, statistics.TotalTerms));

    private static float Base => (float)(Bm25.K1 * (1 - Bm25.B));

    public FieldStatistics Statistics => statistics;

    /// <summary>The current value of an impact of 1/255, see <see cref="IImpacts"/>.</summary>
    public float ImpactUnit { get; } = statistics.ReferenceLength <= 0
        ? 1 // no reference length, so every impact counts as at least 1
        : (float)(Math.Max(
            1, statistics.TotalTerms / (double)Math.Max(1, statistics.EntriesWithTerms) / statistics.ReferenceLength) / 255);

    /// <summary>Returns the factor of an entry.</summary>
    public float Of(long id)
    {
        long window = NormChunk.WindowOf(id);
        return OfLength(new NormChunk(norms.Read(NormChunk.NumberOf(window)), window)[NormChunk.SlotOf(id)]);
    }

    /// <summary>Returns the factor for a length.</summary>
    public float OfLength(int length) => Base + (_perTerm * length);

    /// <summary>
    /// Scores each entry of a list for a term of the given weight, in one pass, so that cache misses on lengths overlap.
    /// </summary>
    public void Weigh(ReadOnlySpan<Posting> postings, Span<float> parts, float weight)
    {
        Debug.Assert(parts.Length >= postings.Length, "each posting gets a part");
        long first = long.MaxValue;
        ReadOnlySpan<byte> chunk = default, plain = default;
        for (int i = 0; i < postings.Length; i++)
        {
            long id = postings[i].EntryId;
            if ((ulong)(id - first) >= NormChunk.Entries)
            {
                long number = NormChunk.NumberOf(NormChunk.WindowOf(id));
                first = number * NormChunk.Entries;
                chunk = norms.Read(number);
                plain = NormChunk.Plain(chunk);
            }

            int place = (int)(id - first);
            int length = place < plain.Length ? plain[place] : new NormChunk(chunk, NormChunk.WindowOf(id))[NormChunk.SlotOf(id)];
            parts[i] = Bm25.Part(weight, postings[i].Frequency, OfLength(length));
        }
    }

    /// <summary>Prefetches the lengths of some entries of a window.</summary>
    public void Prefetch(long window, ReadOnlySpan<ushort> entries) => OfWindow(window).Prefetch(entries);

    /// <summary>Announces that this many entries all over the index are going to be read.</summary>
    public void Announce(long entries) => norms.Announce(entries);

    /// <summary>Forgets the addresses of lengths.</summary>
    public void ForgetPages() => norms.ForgetPages();

    /// <summary>Resets the reader for another query.</summary>
    public void Reset() => norms.Reset();

    /// <summary>Returns the factors of a window, valid until the next call.</summary>
    public WindowFactors OfWindow(long window)
    {
        var chunk = new NormChunk(norms.Read(NormChunk.NumberOf(window)), window);
        return new WindowFactors(this, window, chunk.Bytes, isPlain: chunk.Bytes.Length == chunk.Count, Base, _perTerm);
    }

    /// <summary>Keeps the location of a window's lengths, for processing several windows alternately.</summary>
    public HeldLengths Hold(long window)
    {
        var chunk = new NormChunk(norms.Read(NormChunk.NumberOf(window)), window);
        return new HeldLengths(window, new HeldBytes(chunk.Bytes), chunk.Bytes.Length == chunk.Count);
    }

    /// <summary>Returns the factors of a window from its kept location.</summary>
    public WindowFactors Of(in HeldLengths found) => new(this, found.Window, found.Bytes.Span, found.IsPlain, Base, _perTerm);
}

/// <summary>Location of the lengths of a window; see <see cref="WindowFactors"/>.</summary>
internal readonly record struct HeldLengths(long Window, HeldBytes Bytes, bool IsPlain);

/// <summary>The factors of the entries of one window; see <see cref="LengthFactors"/>.</summary>
/// <param name="factors">The factors of all windows.</param>
/// <param name="window">The window.</param>
/// <param name="lengths">Lengths by offset, up to the last entry that has one.</param>
/// <param name="isPlain">Whether all lengths are given; texts of more than 255 words are looked up individually.</param>
/// <param name="least">The factor of a length of 0.</param>
/// <param name="perTerm">What each term adds to the factor.</param>
internal readonly ref struct WindowFactors(
    LengthFactors factors, long window, ReadOnlySpan<byte> lengths, bool isPlain, float least, float perTerm)
{
    private readonly LengthFactors _factors = factors;
    private readonly long _window = window;
    private readonly ReadOnlySpan<byte> _lengths = lengths;
    private readonly bool _isPlain = isPlain;
    private readonly float _least = least;
    private readonly float _perTerm = perTerm;

    /// <summary>The factor of an entry.</summary>
    public float this[int offset]
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => offset < _lengths.Length ? _least + (_perTerm * _lengths[offset]) : Slow(offset);
    }

    /// <summary>The lengths of a block of 64 entries; empty if any of them is not available as a byte.</summary>
    public ReadOnlySpan<byte> Block(int block) =>
        _lengths.Length >= (block + 1) * PostingWindow.Blocks
            ? _lengths.Slice(block * PostingWindow.Blocks, PostingWindow.Blocks)
            : default;

    /// <summary>Prefetches the lengths of some entries.</summary>
    public void Prefetch(ReadOnlySpan<ushort> entries)
    {
        foreach (ushort entry in entries)
        {
            if (entry < _lengths.Length)
                PrefetchKernels.Prefetch(in _lengths[entry]);
        }
    }

    /// <summary>Whether an entry has at most the given number of words, or its length is not available as a byte.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool MayBeUpTo(int offset, int most) => offset >= _lengths.Length || _lengths[offset] <= most;

    /// <summary>
    /// Returns the greatest length for which <c>weight / (1 + factor)</c> is at least <paramref name="number"/>; -1 if there
    /// is none, 255 for 255 and above.
    /// </summary>
    public int MostLength(float weight, float number)
    {
        if (number <= 0)
            return byte.MaxValue;
        float length = ((weight / number) - 1 - _least) / _perTerm;
        return length >= byte.MaxValue ? byte.MaxValue : length >= 0 ? (int)length : -1;
    }

    private float Slow(int offset) => _isPlain ? _least : _factors.Of((_window << PostingWindow.SizeBits) + offset);
}
