using System.Diagnostics;
using Treepie.Storage.Format;
using Treepie.Storage.Paging;
using Treepie.Storage.Trees;

namespace Treepie.Storage.Checks;

/// <summary>
/// Copies one tree: what its root leads to and, for each lost page, the orphan leaves that may have been below it.
/// </summary>
internal sealed class TreeSalvage(
    PageStore source, long pageCount, OrphanLeaves orphans, StorageEnvironment target, string name,
    CancellationToken cancellationToken)
{
    private const int MaxRanges = 100;

    private static readonly Comparer<byte[]?> _byBytes = Comparer<byte[]?>.Create(
        static (a, b) => a.AsSpan().SequenceCompareTo(b));

    private readonly SalvageWriter _writer = new(target, source, name);
    private readonly List<KeyRange> _missing = [];
    private readonly List<KeyRange> _valuesMissing = [];
    private readonly List<KeyRange> _doubtful = [];
    private long _keys;
    private long _doubtfulKeys;
    private long _lostValues;
    private long _damagedPages;

    /// <summary>Copies a tree whose record is known.</summary>
    public SalvagedTree Run(TreeRecord record)
    {
        new LenientWalk(source, new PageSet(pageCount), cancellationToken).Run(
            record,
            (leaf, _) => CopyLeaf(leaf, covered: null, isDoubtful: false),
            lost => Fill(record.Id, lost));
        _writer.Flush();
        return Result(record.Count);
    }

    /// <summary>Copies what is left of a tree of which only the id is known.</summary>
    public SalvagedTree RunLost(uint id)
    {
        Fill(id, new LostRange(null, null, new PageReference(0, long.MaxValue), 1, ""));
        _writer.Flush();
        return Result(null);
    }

    private void Fill(uint id, LostRange lost)
    {
        _damagedPages += lost.Page.Number == 0 ? 0 : 1;
        var covered = new CoveredKeys();
        foreach (OrphanLeaves.Orphan orphan in orphans.Take(source, id, lost))
        {
            cancellationToken.ThrowIfCancellationRequested();
            var leaf = new SlottedPage(source.Read(orphan.Page));
            byte[] first = LenientWalk.KeyOf(leaf, 0), last = LenientWalk.KeyOf(leaf, leaf.Count - 1);
            if (CopyLeaf(leaf, covered, !orphan.IsCertain) > 0 && !orphan.IsCertain)
                _doubtful.Add(new KeyRange(first, After(last)));
            covered.Add(first, last);
        }

        byte[]? from = lost.Low;
        foreach ((byte[] first, byte[] last) in covered.All)
        {
            if (from is null || from.AsSpan().SequenceCompareTo(first) < 0)
                _missing.Add(new KeyRange(from, first));
            from = After(last);
        }

        if (from is null || lost.High is null || from.AsSpan().SequenceCompareTo(lost.High) < 0)
            _missing.Add(new KeyRange(from, lost.High));
    }

    /// <summary>Copies the entries of a leaf whose keys no better leaf covers. Returns the number copied.</summary>
    private int CopyLeaf(SlottedPage leaf, CoveredKeys? covered, bool isDoubtful)
    {
        int copied = 0;
        for (int i = 0; i < leaf.Count; i++)
        {
            byte[] key = LenientWalk.KeyOf(leaf, i);
            if (covered is not null && covered.Contains(key))
                continue;

            ReadOnlySpan<byte> value = leaf.Value(i, out bool isOverflow);
            if (!isOverflow)
            {
                _writer.Add(key, value);
            }
            else if (!TryAddRun(key, value))
            {
                _lostValues++;
                _damagedPages++;
                _valuesMissing.Add(new KeyRange(key, After(key)));
                continue;
            }

            copied++;
        }

        _keys += copied;
        _doubtfulKeys += isDoubtful ? copied : 0;
        Debug.Assert(_doubtfulKeys <= _keys, "doubtful keys are among those that were copied");
        return copied;
    }

    private bool TryAddRun(byte[] key, ReadOnlySpan<byte> overflow)
    {
        OverflowReference run = OverflowReference.ReadPacked(overflow);
        try
        {
            source.ReadRun(run);
        }
        catch (CorruptionException)
        {
            return false;
        }

        _writer.Add(key, run);
        return true;
    }

    /// <summary>
    /// Builds the result. If the number of keys matches and none is doubtful, the gaps between leaves held no keys.
    /// </summary>
    private SalvagedTree Result(long? expected) => new()
    {
        Name = name,
        Keys = _keys,
        ExpectedKeys = expected,
        DoubtfulKeys = _doubtfulKeys,
        LostValues = _lostValues,
        DamagedPages = _damagedPages,
        MissingRanges = expected == _keys + _lostValues && _doubtfulKeys == 0
            ? Join(_valuesMissing)
            : Join([.. _missing, .. _valuesMissing]),
        DoubtfulRanges = Join(_doubtful),
    };

    /// <summary>Returns the first possible key after a key.</summary>
    private static byte[] After(byte[] key) => [.. key, 0];

    /// <summary>
    /// Sorts ranges and limits their number by joining neighbours. The result may cover more keys than are missing, never
    /// fewer.
    /// </summary>
    private static List<KeyRange> Join(List<KeyRange> ranges)
    {
        ranges.Sort(
            static (a, b) => a.From is null || b.From is null
                ? (a.From is null ? 0 : 1) - (b.From is null ? 0 : 1)
                : a.From.AsSpan().SequenceCompareTo(b.From));
        int step = ((ranges.Count - 1) / MaxRanges) + 1;
        // Not null: no chunk is empty.
        return [
            .. ranges.Chunk(step)
                .Select(
                    static part => new KeyRange(
                        part[0].From,
                        Array.Exists(part, range => range.To is null)
                            ? null
                            : part.MaxBy(static range => range.To, _byBytes)!.To))];
    }
}
