using System.Runtime.CompilerServices;
using Treepie.Storage.Format;
using Treepie.Storage.Paging;

namespace Treepie.Storage.Maps;

/// <summary>Finds records of a map in a snapshot: root, directory page, bucket. Static and allocation-free.</summary>
internal static class MapReader
{
    /// <summary>Finds the value of a key, in place in its page or run.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static bool TryGet<TKey, TKeySerializer>(
        PageStore store, in TreeRecord record, BucketLayout layout, scoped ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
        where TKeySerializer : struct, IMapSerializer<TKey>
    {
        ReadOnlySpan<byte> root = ReadDirectory(store, record.Root, record.Levels - 1);
        MapHeader header = MapLayout.Read(root);
        ulong hash = new SerializerKeyHash<TKey, TKeySerializer>(header.Seed).Of(key);
        var chain = new BucketChain(store, FindBucket(store, record, root, MapLayout.BucketOf(hash, header.Buckets)));
        while (!chain.IsEnd)
        {
            BucketPage page = chain.Read(layout);
            int slot = page.Find(hash, key);
            if (slot >= 0)
            {
                value = ReadValue(store, page, slot);
                return true;
            }

            chain.MoveTo(page.Next);
        }

        value = default;
        return false;
    }

    /// <summary>Returns the first page of a bucket, or none.</summary>
    public static PageReference FindBucket(PageStore store, in TreeRecord record, scoped ReadOnlySpan<byte> root, long bucket)
    {
        PageReference reference = MapLayout.Entry(root, MapLayout.IndexOf(bucket, record.Levels - 1));
        for (int level = record.Levels - 2; level >= 0 && !reference.IsNone; level--)
            reference = MapLayout.Entry(ReadDirectory(store, reference, level), MapLayout.IndexOf(bucket, level));
        return reference;
    }

    /// <summary>Reads a directory page, which must have the expected level.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static Span<byte> ReadDirectory(PageStore store, PageReference reference, int level)
    {
        Span<byte> page = store.Read(reference);
        if (new Page(page).ReadUInt16(PageLayout.TypeOffset) != MapLayout.KindOf(level))
            ThrowOtherKind(store, reference, page, $"a directory of level {level}");
        return page;
    }

    /// <summary>Reads a page of a bucket. To read one after the other, see <see cref="BucketChain"/>.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static BucketPage ReadBucket(PageStore store, PageReference reference, BucketLayout layout)
    {
        Span<byte> page = store.Read(reference);
        if (page[PageLayout.TypeOffset] != (byte)PageType.MapBucket
            || new Page(page).ReadUInt16(MapLayout.RecordOffset) != layout.Code)
            ThrowOtherKind(store, reference, page, $"a bucket of records of the kind {layout.Code}");
        return new BucketPage(page, layout);
    }

    /// <summary>Returns the value in a slot, from its page or its overflow run.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ReadOnlySpan<byte> ReadValue(PageStore store, BucketPage page, int slot)
    {
        Span<byte> value = page.Value(slot, out bool isOverflow);
        return isOverflow
            ? store.ReadRun(OverflowReference.ReadPacked(value))
            : value;
    }

    private static void ThrowOtherKind(PageStore store, PageReference reference, Span<byte> page, string expected)
    {
        var header = new Page(page);
        throw store.Corrupt(
            reference.Number,
            $"{expected} was expected, type {header.Type} of level {header.Level} with records of the kind "
                + $"{header.ReadUInt16(MapLayout.RecordOffset)} found (tree {header.TreeId})");
    }
}
