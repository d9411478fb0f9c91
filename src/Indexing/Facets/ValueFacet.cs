using System.Numerics;
using Treepie.Indexing.Analysis;
using Treepie.Indexing.Columns;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Searching;
using Treepie.Storage.Memory;

namespace Treepie.Indexing.Facets;

/// <summary>
/// Counts hits by their sort values: where these are few texts, all hits of a block at once by its bitmaps, and a text is looked
/// for among the groups only when blocks come that have other texts; elsewhere hit by hit.
/// </summary>
/// <param name="context">The query.</param>
/// <param name="field">The field.</param>
/// <param name="hits">The hits.</param>
/// <param name="groups">Where they are counted.</param>
internal sealed class ValueFacet(QueryContext context, int field, HitSet hits, FacetGroups groups)
{
    private const int BlockWords = TextBlock.Entries / 64;

    /// <summary>In the place of the group of a text: it was not asked for.</summary>
    private const int Unknown = -2;

    private readonly SortColumn column = context.OpenSortColumn(field);
    private readonly ushort[] offsets = context.RentOffsets();
    private readonly ulong[] words = new ulong[BitmapKernels.Words];
    private readonly byte[] known = new byte[TextBlock.MaxBytes];
    private readonly long[] counts = new long[TextBlock.MaxTexts + 1];
    private readonly HeldBytes[] blocks = new HeldBytes[PlaneKernels.MaxBlocks];
    private readonly ulong[] hitsOfBlocks = context.RentWords(PlaneKernels.MaxBlocks * BlockWords);
    private int blockCount;
    private readonly int[] groupOf = new int[TextBlock.MaxTexts + 1];
    private int knownTexts;
    private int knownBytes;

    public void Count()
    {
        for (int place = 0; place < hits.Windows.Count; place++)
        {
            context.Check();
            ReadOnlySpan<ulong> found = hits.Words(place, words);
            for (int i = 0; i < TextBlock.OfWindow; i++)
            {
                long block = (hits.Windows[place] * TextBlock.OfWindow) + i;
                ReadOnlySpan<ulong> mine = found.Slice(i * BlockWords, BlockWords);
                if (!mine.ContainsAnyExcept(0UL))
                    continue;
                if (column.TryReadBlockAlong(block, out TextBlock texts))
                    CountBlock(texts, block << TextBlock.EntryBits, mine[..texts.Words]);
                else
                    CountChunks(block << TextBlock.EntryBits, mine);
            }
        }

        LeaveTexts();
    }

    private void CountBlock(TextBlock block, long first, ReadOnlySpan<ulong> mine)
    {
        if (block.Count != knownTexts || !block.Texts.SequenceEqual(known.AsSpan(0, knownBytes)))
            EnterTexts(block);
        if (groups.HasNumbers)
        {
            for (int i = 0, count = Decode(mine); i < count; i++)
            {
                int text = block.PlaceOf(offsets[i]);
                if (text > 0 && GroupOf(block, text) is >= 0 and var group)
                    groups.Add(group, first + offsets[i]);
            }

            return;
        }

        // Parting all of them takes as long as asking so many.
        int hitsOfBlock = 0;
        foreach (ulong word in mine)
            hitsOfBlock += BitOperations.PopCount(word);
        if (hitsOfBlock >= block.Count)
        {
            if (block.Words == BlockWords)
                CountLater(block.Planes, mine);
            else
                PlaneKernels.Count(mine, block.Planes, block.Bits, counts.AsSpan(0, block.Count + 1));
            return;
        }

        for (int i = 0, count = Decode(mine); i < count; i++)
            counts[block.PlaceOf(offsets[i])]++;
    }

    /// <summary>Blocks that have the same texts are counted together, and are asked for before.</summary>
    private void CountLater(ReadOnlySpan<byte> planes, ReadOnlySpan<ulong> mine)
    {
        PrefetchKernels.Prefetch(planes);
        mine.CopyTo(hitsOfBlocks.AsSpan(blockCount * BlockWords, BlockWords));
        blocks[blockCount++] = new HeldBytes(planes);
        if (blockCount == blocks.Length)
            CountBlocks();
    }

    private void CountBlocks()
    {
        if (blockCount > 0)
            PlaneKernels.Count(
                hitsOfBlocks.AsSpan(0, blockCount * BlockWords), blocks.AsSpan(0, blockCount), TextBlock.BitsOf(knownTexts),
                counts.AsSpan(0, knownTexts + 1));
        blockCount = 0;
    }

    private void CountChunks(long first, ReadOnlySpan<ulong> mine)
    {
        Span<byte> text = stackalloc byte[SortText.MaxBytes];
        for (int i = 0, count = Decode(mine); i < count; i++)
        {
            long id = first + offsets[i];
            SortChunk chunk = column.Read(id >> SortChunk.EntryBits);
            int length = SortText.Copy(chunk, (int)(id & (SortChunk.Entries - 1)), text);
            if (length >= 0 && !TermForm.IsNoText(text[..length]))
                groups.Add(groups.PlaceOf(text[..length]), id);
        }
    }

    private int Decode(ReadOnlySpan<ulong> mine)
    {
        int count = BitmapKernels.Decode(mine, offsets);
        context.Meter.Count.EntriesScanned += count;
        return count;
    }

    /// <summary>The group of a text of the block, asked for when a hit has it; -1: it is none.</summary>
    private int GroupOf(TextBlock block, int text)
    {
        if (groupOf[text] == Unknown)
            groupOf[text] = TermForm.IsNoText(block.TextAt(text)) ? -1 : groups.PlaceOf(block.TextAt(text));
        return groupOf[text];
    }

    private void EnterTexts(TextBlock block)
    {
        LeaveTexts();
        block.Texts.CopyTo(known);
        (knownTexts, knownBytes) = (block.Count, block.Texts.Length);
        Array.Fill(groupOf, Unknown);
    }

    /// <summary>Counts what was counted by place.</summary>
    private void LeaveTexts()
    {
        CountBlocks();
        for (int text = 1; text <= knownTexts; text++)
        {
            ReadOnlySpan<byte> term = TextBlock.TextIn(known, knownTexts, text);
            if (counts[text] > 0 && !TermForm.IsNoText(term))
                groups.AddCount(groups.PlaceOf(term), counts[text]);
        }

        Array.Clear(counts);
    }
}
