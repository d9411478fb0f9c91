using System.Diagnostics;
using Treepie.Storage.Format;
using Treepie.Storage.Maps;
using Treepie.Storage.Paging;

namespace Treepie.Storage.Checks;

/// <summary>
/// Copies the records of one hash map that its directory leads to, as bytes. A record on a lost page cannot be told from one
/// that never existed, so the count shows how many are missing but no key range can be given.
/// </summary>
internal sealed class MapSalvage(PageStore source, StorageEnvironment target, string name, CancellationToken cancellationToken)
{
    private const int MaxBatchBytes = 1 << 20;

    private readonly List<(byte[] Key, byte[]? Value, OverflowReference Run)> _records = [];
    private MapHeader _header;
    private BucketLayout _layout;
    private byte[] _keyDescription = [];
    private byte[] _valueDescription = [];
    private PageSet? _reached;
    private long _bytes;
    private long _keys;
    private long _lostValues;
    private long _damagedPages;

    /// <summary>Marks the pages that belong to a map, as far as they can be read.</summary>
    public static void Mark(PageStore store, TreeRecord map, PageSet reached, CancellationToken cancellationToken)
    {
        try
        {
            new MapWalk(store, run =>
            {
                bool isNew = reached.Add(run.First);
                for (long page = run.First + 1; page < run.First + run.Pages; page++)
                    reached.Add(page);
                return isNew;
            }, cancellationToken).Run(map);
        }
        catch (CorruptionException)
        {
            // Copying the map reports what is lost. Pages not reached are not attributed to any tree.
        }
    }

    public SalvagedTree Run(TreeRecord record)
    {
        string? failure = TryBegin(record);
        if (failure is null)
        {
            _reached = new PageSet(source.LimitPages);
            WalkDirectory(record.Root, record.Levels - 1);
            Flush();
        }

        return new SalvagedTree
        {
            Name = name,
            Keys = _keys,
            ExpectedKeys = record.Count,
            DoubtfulKeys = 0,
            LostValues = _lostValues,
            DamagedPages = _damagedPages,
            MissingRanges = failure is null && _keys == record.Count ? [] : [new KeyRange(null, null)],
            DoubtfulRanges = [],
            Failure = failure,
        };
    }

    private string? TryBegin(TreeRecord record)
    {
        if (record.Levels is < 1 or > MapLayout.MaxLevels)
            return $"Its record says {record.Levels} levels.";

        try
        {
            Span<byte> root = MapReader.ReadDirectory(source, record.Root, record.Levels - 1);
            _header = MapLayout.Read(root);
            MapLayout.ReadDescriptions(root, out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value);
            (_keyDescription, _valueDescription) = (key.ToArray(), value.ToArray());
        }
        catch (CorruptionException error)
        {
            _damagedPages++;
            return error.Message;
        }

        if (!_header.IsStandardHash)
            return "Its keys use their own hash function, which only the program that made the map knows.";
        _layout = new BucketLayout(_header.KeyBytes, _header.ValueBytes);
        return null;
    }

    private void WalkDirectory(PageReference reference, int level)
    {
        cancellationToken.ThrowIfCancellationRequested();
        try
        {
            if (!_reached!.Add(reference.Number)) // set before the walk
                throw source.Corrupt(reference.Number, "it is referred to twice");

            Span<byte> page = MapReader.ReadDirectory(source, reference, level);
            for (int i = 0; i < MapLayout.Fanout; i++)
            {
                PageReference child = MapLayout.Entry(page, i);
                if (child.IsNone)
                    continue;
                if (level > 0)
                    WalkDirectory(child, level - 1);
                else
                    WalkBucket(child);
            }
        }
        catch (CorruptionException)
        {
            _damagedPages++;
        }
    }

    private void WalkBucket(PageReference first)
    {
        try
        {
            var chain = new BucketChain(source, first);
            while (!chain.IsEnd)
            {
                if (!_reached!.Add(chain.Reference.Number)) // set before the walk
                    throw source.Corrupt(chain.Reference.Number, "it is referred to twice");

                BucketPage page = chain.Read(_layout);
                for (int slot = 0; slot < page.Slots; slot++)
                    if (page.IsUsed(slot))
                        Add(page, slot);
                chain.MoveTo(page.Next);
            }
        }
        catch (CorruptionException)
        {
            _damagedPages++;
        }
    }

    private void Add(BucketPage page, int slot)
    {
        ReadOnlySpan<byte> value = page.Value(slot, out bool isOverflow);
        var run = new OverflowReference(default, value.Length);
        if (isOverflow)
        {
            run = OverflowReference.ReadPacked(value);
            try
            {
                source.ReadRun(run);
            }
            catch (CorruptionException)
            {
                _lostValues++;
                _damagedPages++;
                return;
            }
        }

        _records.Add((page.Key(slot).ToArray(), isOverflow ? null : value.ToArray(), run));
        _keys++;
        _bytes += run.LengthBytes;
        if (_bytes >= MaxBatchBytes)
            Flush();
    }

    private void Flush()
    {
        Debug.Assert(_records.Count > 0 || _bytes == 0, "only records that wait have bytes");
        target.Write(transaction =>
        {
            TreeRecord map = transaction.Batch.FindTree(name)
                ?? MapWriter.Create(
                    transaction.Batch.Pages, transaction.Batch.NextTreeId++, _header with { Buckets = 1, UsedBytes = 0 },
                    _keyDescription, _valueDescription);
            var writer = new MapWriter(transaction.Batch.Pages.Store, transaction.Batch.Pages, map, _layout);
            var hashing = new StandardKeyHash(_header.Seed);
            foreach ((byte[] key, byte[]? value, OverflowReference run) in _records)
                writer.Put(hashing.Of(key), key, value is null ? source.ReadRun(run) : value, hashing);
            transaction.Batch.SetTree(name, writer.Record);
            return true;
        });
        _records.Clear();
        _bytes = 0;
    }
}
