using System.Runtime.CompilerServices;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Columns;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Postings;
using Treepie.Storage.Memory;

namespace Treepie.Indexing.Ranking;

/// <summary>
/// What the length of an entry does to its scores in one full-text field: <c>k1 · (1 − b + b · length / average length)</c>.
/// Shared by all terms of the field in a query.
/// </summary>
/// <param name="norms">Lengths of the field.</param>
/// <param name="statistics">Sums over the field.</param>
internal sealed class LengthFactors(ChunkReader norms, FieldStatistics statistics)
{
    private readonly float _perTerm =
        (float)(Bm25.K1 * Bm25.B * statistics.EntriesWithTerms / Math.Max(1, statistics.TotalTerms));

    private static float Base => (float)(Bm25.K1 * (1 - Bm25.B));

    public FieldStatistics Statistics => statistics;

    /// <summary>What an impact of 1/255 is worth now, see <see cref="IImpacts"/>.</summary>
    public float ImpactUnit { get; } = statistics.ReferenceLength <= 0
        ? 1 // nothing is known: every impact is above 1
        : (float)(Math.Max(
            1, statistics.TotalTerms / (double)Math.Max(1, statistics.EntriesWithTerms) / statistics.ReferenceLength) / 255);

    /// <summary>The factor of one entry.</summary>
    public float Of(long id)
    {
        long window = NormChunk.WindowOf(id);
        return OfLength(new NormChunk(norms.Read(NormChunk.NumberOf(window)), window)[NormChunk.SlotOf(id)]);
    }

    /// <summary>The factor of an entry of some length.</summary>
    public float OfLength(int length) => Base + (_perTerm * length);

    /// <summary>
    /// What a term of some weight counts for each entry of a list, in one go: lengths that have to come from far away come at
    /// once, not one after the other.
    /// </summary>
    public void Weigh(ReadOnlySpan<Posting> postings, Span<float> parts, float weight)
    {
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

    /// <summary>Asks for the lengths of some entries of a window, which are looked at soon.</summary>
    public void Prefetch(long window, ReadOnlySpan<ushort> entries) => OfWindow(window).Prefetch(entries);

    /// <summary>As <see cref="Prefetch"/>, where that is in the chunk that was looked at last.</summary>
    public void PrefetchNear(long window, ReadOnlySpan<ushort> entries)
    {
        if (norms.Has(NormChunk.NumberOf(window)))
            Prefetch(window, entries);
    }

    /// <summary>Says that so many entries all over the index are going to be asked for.</summary>
    public void Announce(long entries) => norms.Announce(entries);

    /// <summary>Forgets where lengths lie.</summary>
    public void ForgetPages() => norms.ForgetPages();

    /// <summary>Makes them those of another query.</summary>
    public void Reset() => norms.Reset();

    /// <summary>The factors of a window; they live until another one is asked for.</summary>
    public WindowFactors OfWindow(long window)
    {
        var chunk = new NormChunk(norms.Read(NormChunk.NumberOf(window)), window);
        return new WindowFactors(this, window, chunk.Bytes, isPlain: chunk.Bytes.Length == chunk.Count, Base, _perTerm);
    }

    /// <summary>Notes where the lengths of a window lie, for who looks at several windows by turns.</summary>
    public HeldLengths Hold(long window)
    {
        var chunk = new NormChunk(norms.Read(NormChunk.NumberOf(window)), window);
        return new HeldLengths(window, new HeldBytes(chunk.Bytes), chunk.Bytes.Length == chunk.Count);
    }

    /// <summary>The factors of a window whose lengths were found.</summary>
    public WindowFactors Of(in HeldLengths found) => new(this, found.Window, found.Bytes.Span, found.IsPlain, Base, _perTerm);
}

/// <summary>Where the lengths of a window lie: see <see cref="WindowFactors"/>.</summary>
internal readonly record struct HeldLengths(long Window, HeldBytes Bytes, bool IsPlain);

/// <summary>The factors of the entries of one window: see <see cref="LengthFactors"/>.</summary>
/// <param name="factors">Those of all windows.</param>
/// <param name="window">The window.</param>
/// <param name="lengths">Lengths by offset, up to the last entry that has one.</param>
/// <param name="isPlain">Whether they are all there: texts of more than 255 words are looked up each by itself.</param>
/// <param name="least">The factor of a length of 0.</param>
/// <param name="perTerm">What a length of 1 adds.</param>
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

    /// <summary>The lengths of a block of 64 entries; empty where one of them is not to be had as a byte.</summary>
    public ReadOnlySpan<byte> Block(int block) =>
        _lengths.Length >= (block + 1) * PostingWindow.Blocks
            ? _lengths.Slice(block * PostingWindow.Blocks, PostingWindow.Blocks)
            : default;

    /// <summary>Asks for what is looked at for some entries.</summary>
    public void Prefetch(ReadOnlySpan<ushort> entries)
    {
        foreach (ushort entry in entries)
        {
            if (entry < _lengths.Length)
                PrefetchKernels.Prefetch(in _lengths[entry]);
        }
    }

    /// <summary>Whether an entry has at the most so many words, or its length is not to be had as a byte.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool MayBeUpTo(int offset, int most) => offset >= _lengths.Length || _lengths[offset] <= most;

    /// <summary>
    /// The greatest length for which <c>weight / (1 + factor)</c> is at least a number; -1 if there is none, 255 for that and all
    /// above.
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
