using Treepie.Storage.Format;
using Treepie.Storage.Maps;
using Treepie.Storage.Paging;

namespace Treepie.Storage.Checks;

/// <summary>
/// Checks one hash map: each bucket is at its place in the directory, each record in the bucket and group given by its hash,
/// no key occurs twice, and the counts in pages and header are right. Positions are not checked in maps with custom key
/// hashes.
/// </summary>
internal sealed class MapCheck(CheckContext context) : ITreeCheck
{
    private readonly PageStore _store = context.Store;
    private string _name = "";
    private TreeRecord _record;
    private MapHeader _header;
    private long _keys;
    private long _usedBytes;

    public void Run(string name, TreeRecord record)
    {
        _name = name;
        _record = record;
        _keys = 0;
        _usedBytes = 0;
        if (record.Levels is < 1 or > MapLayout.MaxLevels)
        {
            context.Report($"Its record says {record.Levels} levels.", name);
            return;
        }

        WalkDirectory(record.Root, record.Levels - 1, 0);
        if (_keys != record.Count)
            context.Report($"Its record says {record.Count} keys, {_keys} were found.", name);
        if (_usedBytes != _header.UsedBytes)
            context.Report($"Its records are said to take {_header.UsedBytes} bytes, {_usedBytes} were found.", name);
        context.Keys += _keys;
        context.Trees++;
    }

    private void WalkDirectory(PageReference reference, int level, long firstBucket)
    {
        context.Rest();
        if (!TryRead(reference, PageType.MapDirectory, level, out Span<byte> page))
            return;

        bool isRoot = level == _record.Levels - 1;
        if (isRoot)
        {
            _header = MapLayout.Read(page);
            if (_header.Buckets is < 1 or > MapLayout.MaxBuckets)
            {
                context.Report($"It says it has {_header.Buckets} buckets.", _name, reference.Number);
                return;
            }
        }

        int entries = 0;
        for (int i = 0; i < MapLayout.Fanout; i++)
        {
            // Read the page again: it may have been released while the walk was below it.
            PageReference child = MapLayout.Entry(_store.Read(reference), i);
            if (child.IsNone)
                continue;

            entries++;
            long bucket = firstBucket + ((long)i << (level * MapLayout.FanoutBits));
            if (bucket >= _header.Buckets)
                context.Report($"Bucket {bucket} is there, {_header.Buckets} are the map's.", _name, reference.Number);
            else if (level > 0)
                WalkDirectory(child, level - 1, bucket);
            else
                WalkBucket(child, bucket);
        }

        if (entries == 0 && !isRoot)
            context.Report("It is empty.", _name, reference.Number);
    }

    private void WalkBucket(PageReference reference, long bucket)
    {
        var layout = new BucketLayout(_header.KeyBytes, _header.ValueBytes);
        var keys = new HashSet<string>(StringComparer.Ordinal);
        for (int place = 0; !reference.IsNone; place++)
        {
            context.Rest();
            if (!TryRead(reference, PageType.MapBucket, Math.Min(place, 1), out Span<byte> bytes))
                return;

            var page = new BucketPage(bytes, layout);
            if ((MapShape.FindBucketFault(bytes) ?? FindOtherLayout(page, layout)) is { } fault)
            {
                context.Report($"It is damaged: {fault}.", _name, reference.Number);
                return;
            }

            if (page.Count == 0 && (place > 0 || page.Next.IsNone))
                context.Report("It is empty.", _name, reference.Number);
            _usedBytes += page.UsedBytes;
            WalkRecords(page, reference.Number, bucket, keys);
            reference = page.Next;
        }
    }

    private void WalkRecords(BucketPage page, long number, long bucket, HashSet<string> keys)
    {
        int slots = page.Slots;
        for (int slot = 0; slot < slots; slot++)
        {
            if (!page.IsUsed(slot))
                continue;

            _keys++;
            ReadOnlySpan<byte> key = page.Key(slot);
            if (!keys.Add(Convert.ToHexString(key)))
                context.Report($"The key in slot {slot} is there twice.", _name, number);
            Span<byte> value = page.Value(slot, out bool isOverflow);
            if (isOverflow)
                CheckRun(value, number);
            if (!_header.IsStandardHash)
                continue;

            ulong hash = MapHash.Compute(key, _header.Seed);
            if (MapLayout.BucketOf(hash, _header.Buckets) != bucket)
                context.Report(
                    $"The record in slot {slot} belongs to bucket {MapLayout.BucketOf(hash, _header.Buckets)}, not {bucket}.",
                    _name, number);
            else if (!page.IsReachable(slot, hash))
                context.Report($"The record in slot {slot} is not found by a search.", _name, number);
        }
    }

    private static string? FindOtherLayout(BucketPage page, BucketLayout layout) =>
        page.Header.ReadUInt16(MapLayout.RecordOffset) == layout.Code
            ? null
            : $"its records are of the kind {page.Header.ReadUInt16(MapLayout.RecordOffset)}, the map's are of the kind "
                + $"{layout.Code}";

    private bool TryRead(PageReference reference, PageType type, int level, out Span<byte> bytes)
    {
        bytes = default;
        if (!context.Mark(new PageRun(reference.Number, 1), _name) || !context.Verify(reference.Number, _name))
            return false;

        try
        {
            bytes = _store.Read(reference);
        }
        catch (CorruptionException error)
        {
            context.Report(error.Message, _name, reference.Number);
            return false;
        }

        var page = new Page(bytes);
        if (page.Type == type && page.Level == level && page.TreeId == _record.Id)
            return true;

        context.Report(
            $"{type} of level {level} and tree {_record.Id} expected, {page.Type} of level {page.Level} and tree {page.TreeId} "
                + $"found.",
            _name, reference.Number);
        return false;
    }

    private void CheckRun(ReadOnlySpan<byte> overflow, long number)
    {
        if (overflow.Length != OverflowReference.PackedBytes)
        {
            context.Report($"A reference to a long value has {overflow.Length} bytes.", _name, number);
            return;
        }

        context.CheckRun(OverflowReference.ReadPacked(overflow), _name, number);
    }
}
