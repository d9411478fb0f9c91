using System.Diagnostics;
using System.Numerics;
using Treepie.Indexing.Analysis;
using Treepie.Indexing.Columns;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Searching;
using Treepie.Storage.Memory;

namespace Treepie.Indexing.Facets;

/// <summary>
/// Counts hits by their sort values. In a block of texts, all hits are counted at once by its bitmaps, and texts are looked up
/// among the groups only when the next block has other texts; elsewhere hits are counted one by one.
/// </summary>
/// <param name="context">The query.</param>
/// <param name="field">The field.</param>
/// <param name="hits">The hits.</param>
/// <param name="groups">Receives the counts.</param>
internal sealed class ValueFacet(QueryContext context, int field, HitSet hits, FacetGroups groups)
{
    private const int BlockWords = TextBlock.Entries / 64;

    /// <summary>Marks a text whose group was not looked up yet.</summary>
    private const int Unknown = -2;

    private readonly SortColumn _column = context.OpenSortColumn(field);
    private readonly ushort[] _offsets = context.RentOffsets();
    private readonly ulong[] _words = new ulong[BitmapKernels.Words];
    private readonly byte[] _known = new byte[TextBlock.MaxBytes];
    private readonly long[] _counts = new long[TextBlock.MaxTexts + 1];
    private readonly HeldBytes[] _blocks = new HeldBytes[PlaneKernels.MaxBlocks];
    private readonly ulong[] _hitsOfBlocks = context.RentWords(PlaneKernels.MaxBlocks * BlockWords);
    private int _blockCount;
    private readonly int[] _groupOf = new int[TextBlock.MaxTexts + 1];
    private int _knownTexts;
    private int _knownBytes;

    public void Count()
    {
        for (int place = 0; place < hits.Windows.Count; place++)
        {
            context.Check();
            ReadOnlySpan<ulong> found = hits.Words(place, _words);
            for (int i = 0; i < TextBlock.OfWindow; i++)
            {
                long block = (hits.Windows[place] * TextBlock.OfWindow) + i;
                ReadOnlySpan<ulong> mine = found.Slice(i * BlockWords, BlockWords);
                if (!mine.ContainsAnyExcept(0UL))
                    continue;
                if (_column.TryReadBlockAlong(block, out TextBlock texts))
                    CountBlock(texts, block << TextBlock.EntryBits, mine[..texts.Words]);
                else
                    CountChunks(block << TextBlock.EntryBits, mine);
            }
        }

        LeaveTexts();
    }

    private void CountBlock(TextBlock block, long first, ReadOnlySpan<ulong> mine)
    {
        if (block.Count != _knownTexts || !block.Texts.SequenceEqual(_known.AsSpan(0, _knownBytes)))
            EnterTexts(block);
        if (groups.HasNumbers)
        {
            for (int i = 0, count = Decode(mine); i < count; i++)
            {
                int text = block.PlaceOf(_offsets[i]);
                if (text > 0 && GroupOf(block, text) is >= 0 and var group)
                    groups.Add(group, first + _offsets[i]);
            }

            return;
        }

        // Splitting the whole block by text costs as much as reading this many hits individually.
        int hitsOfBlock = 0;
        foreach (ulong word in mine)
            hitsOfBlock += BitOperations.PopCount(word);
        if (hitsOfBlock >= block.Count)
        {
            if (block.Words == BlockWords)
                CountLater(block.Planes, mine);
            else
                PlaneKernels.Count(mine, block.Planes, block.Bits, _counts.AsSpan(0, block.Count + 1));
            return;
        }

        for (int i = 0, count = Decode(mine); i < count; i++)
            _counts[block.PlaceOf(_offsets[i])]++;
    }

    /// <summary>Defers a block, so that blocks with the same texts are counted together after prefetching.</summary>
    private void CountLater(ReadOnlySpan<byte> planes, ReadOnlySpan<ulong> mine)
    {
        Debug.Assert(!groups.HasNumbers && mine.Length == BlockWords, "only whole blocks are counted together");
        PrefetchKernels.Prefetch(planes);
        mine.CopyTo(_hitsOfBlocks.AsSpan(_blockCount * BlockWords, BlockWords));
        Debug.Assert(_blockCount < _blocks.Length, "full groups of blocks are counted at once");
        _blocks[_blockCount++] = new HeldBytes(planes);
        if (_blockCount == _blocks.Length)
            CountBlocks();
    }

    private void CountBlocks()
    {
        if (_blockCount > 0)
            PlaneKernels.Count(
                _hitsOfBlocks.AsSpan(0, _blockCount * BlockWords), _blocks.AsSpan(0, _blockCount), TextBlock.BitsOf(_knownTexts),
                _counts.AsSpan(0, _knownTexts + 1));
        _blockCount = 0;
    }

    private void CountChunks(long first, ReadOnlySpan<ulong> mine)
    {
        Span<byte> text = stackalloc byte[SortText.MaxBytes];
        for (int i = 0, count = Decode(mine); i < count; i++)
        {
            long id = first + _offsets[i];
            SortChunk chunk = _column.Read(id >> SortChunk.EntryBits);
            int length = SortText.Copy(chunk, (int)(id & (SortChunk.Entries - 1)), text);
            if (length >= 0 && !TermForm.IsNoText(text[..length]))
                groups.Add(groups.PlaceOf(text[..length]), id);
        }
    }

    private int Decode(ReadOnlySpan<ulong> mine)
    {
        int count = BitmapKernels.Decode(mine, _offsets);
        context.Meter.Count.EntriesScanned += count;
        return count;
    }

    /// <summary>The group of a text of the block, looked up at its first hit; -1 if it has no group.</summary>
    private int GroupOf(TextBlock block, int text)
    {
        Debug.Assert(block.Count == _knownTexts && text >= 1 && text <= _knownTexts, "the known texts are those of the block");
        if (_groupOf[text] == Unknown)
            _groupOf[text] = TermForm.IsNoText(block.TextAt(text)) ? -1 : groups.PlaceOf(block.TextAt(text));
        return _groupOf[text];
    }

    private void EnterTexts(TextBlock block)
    {
        LeaveTexts();
        block.Texts.CopyTo(_known);
        (_knownTexts, _knownBytes) = (block.Count, block.Texts.Length);
        Array.Fill(_groupOf, Unknown);
    }

    /// <summary>Adds the counts of the known texts to their groups.</summary>
    private void LeaveTexts()
    {
        CountBlocks();
        for (int text = 1; text <= _knownTexts; text++)
        {
            ReadOnlySpan<byte> term = TextBlock.TextIn(_known, _knownTexts, text);
            if (_counts[text] > 0 && !TermForm.IsNoText(term))
                groups.AddCount(groups.PlaceOf(term), _counts[text]);
        }

        Debug.Assert(_blockCount == 0, "deferred blocks are counted before their texts change");
        Array.Clear(_counts);
    }
}
