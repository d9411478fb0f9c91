using System.Buffers.Binary;
using Treepie.Storage.Format;
using Treepie.Storage.Maps;
using Treepie.Storage.Paging;

namespace Treepie.Storage.Checks;

/// <summary>
/// Walks one hash map: each bucket where its number says, each record in the bucket and group that its hash names, no key twice, figures of
/// pages and header right. Maps whose keys bring a hash of their own are walked without looking at places.
/// </summary>
internal sealed class MapCheck(
    PageStore store, Action<string> report, Func<long, bool> markPage, Func<PageRun, bool> markRun, CancellationToken cancellationToken)
{
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
            report($"Map '{name}' says it has {record.Levels} levels.");
            return;
        }

        WalkDirectory(record.Root, record.Levels - 1, 0);
        if (_keys != record.Count)
            report($"Map '{name}' says it has {record.Count} keys, {_keys} were found.");
        if (_usedBytes != _header.UsedBytes)
            report($"Map '{name}' says its records take {_header.UsedBytes} bytes, {_usedBytes} were found.");
    }

    private void WalkDirectory(PageReference reference, int level, long firstBucket)
    {
        cancellationToken.ThrowIfCancellationRequested();
        if (!TryRead(reference, PageType.MapDirectory, level, out Span<byte> page))
            return;

        bool isRoot = level == _record.Levels - 1;
        if (isRoot)
        {
            _header = MapLayout.Read(page);
            if (_header.Buckets is < 1 or > MapLayout.MaxBuckets)
            {
                report($"Map '{_name}' says it has {_header.Buckets} buckets.");
                return;
            }
        }

        int entries = 0;
        for (int i = 0; i < MapLayout.Fanout; i++)
        {
            PageReference child = MapLayout.Entry(page, i);
            if (child.IsNone)
                continue;

            entries++;
            long bucket = firstBucket + ((long)i << (level * MapLayout.FanoutBits));
            if (bucket >= _header.Buckets)
                report($"Map '{_name}', page {reference.Number}: bucket {bucket} is there, {_header.Buckets} are the map's.");
            else if (level > 0)
                WalkDirectory(child, level - 1, bucket);
            else
                WalkBucket(child, bucket);
        }

        if (entries == 0 && !isRoot)
            report($"Map '{_name}', page {reference.Number} is empty.");
    }

    private void WalkBucket(PageReference reference, long bucket)
    {
        cancellationToken.ThrowIfCancellationRequested();
        var layout = new BucketLayout(_header.KeyBytes, _header.ValueBytes);
        var keys = new HashSet<string>(StringComparer.Ordinal);
        for (int place = 0; !reference.IsNone; place++)
        {
            if (!TryRead(reference, PageType.MapBucket, Math.Min(place, 1), out Span<byte> bytes))
                return;

            var page = new BucketPage(bytes, layout);
            if ((MapShape.FindBucketFault(bytes) ?? FindOtherLayout(page, layout)) is { } fault)
            {
                report($"Map '{_name}', page {reference.Number}: {fault}.");
                return;
            }

            if (page.Count == 0 && (place > 0 || page.Next.IsNone))
                report($"Map '{_name}', page {reference.Number} is empty.");
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
                report($"Map '{_name}', page {number}: the key in slot {slot} is there twice.");
            Span<byte> value = page.Value(slot, out bool isOverflow);
            if (isOverflow)
                CheckRun(value, number);
            if (!_header.IsStandardHash)
                continue;

            ulong hash = MapHash.Compute(key, _header.Seed);
            if (MapLayout.BucketOf(hash, _header.Buckets) != bucket)
                report($"Map '{_name}', page {number}: the record in slot {slot} belongs to bucket {MapLayout.BucketOf(hash, _header.Buckets)}, not {bucket}.");
            else if (!page.IsReachable(slot, hash))
                report($"Map '{_name}', page {number}: the record in slot {slot} is not found by a search.");
        }
    }

    private static string? FindOtherLayout(BucketPage page, BucketLayout layout) => page.Header.ReadUInt16(MapLayout.RecordOffset) == layout.Code
        ? null
        : $"its records are of the kind {page.Header.ReadUInt16(MapLayout.RecordOffset)}, the map's are of the kind {layout.Code}";

    private bool TryRead(PageReference reference, PageType type, int level, out Span<byte> bytes)
    {
        bytes = default;
        if (!markPage(reference.Number))
            return false;

        try
        {
            bytes = store.Read(reference);
        }
        catch (CorruptionException error)
        {
            report($"Map '{_name}': {error.Message}");
            return false;
        }

        var page = new Page(bytes);
        if (page.Type == type && page.Level == level && page.TreeId == _record.Id)
            return true;

        report($"Map '{_name}', page {reference.Number}: {type} of level {level} and tree {_record.Id} expected, {page.Type} of level {page.Level} and tree {page.TreeId} found.");
        return false;
    }

    private void CheckRun(ReadOnlySpan<byte> overflow, long number)
    {
        if (overflow.Length != BucketPage.OverflowBytes)
        {
            report($"Map '{_name}', page {number}: a reference to a long value has {overflow.Length} bytes.");
            return;
        }

        PageReference reference = PageReference.ReadPacked(overflow);
        int length = BinaryPrimitives.ReadInt32LittleEndian(overflow[PageReference.PackedBytes..]);
        if (!markRun(new PageRun(reference.Number, PageLayout.RunPages(length))))
            return;

        try
        {
            store.ReadRun(reference, length);
        }
        catch (CorruptionException error)
        {
            report($"Map '{_name}': {error.Message}");
        }
    }
}
