using System.Runtime.CompilerServices;
using Treepie.Storage.Format;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Maps;

/// <summary>Where in its bucket a record is put if there is room: so that most are found by one access to memory.</summary>
internal static class BucketLines
{
    /// <summary>
    /// The slot that a record is put into if it is free, or, in layouts with <see cref="BucketLayout.HasKeyLines"/>, the first of
    /// its line.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int FirstSlot(BucketLayout layout, ulong hash, int groups) =>
        layout.HasKeyLines
            ? HomeLine(hash, groups) * KeyLine.Records
            : (BucketPage.HomeOf(hash, groups) * TagGroup.Size) + layout.FirstChoice(hash);

    /// <summary>As <see cref="BucketPage.HomeOf"/>, with two bits more: the line in the group.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int HomeLine(ulong hash, int groups) => (int)(((uint)(hash >> 48) * (uint)groups) >> 14);

    /// <summary>Where the line begins that a record was put into if the first one (<see cref="HomeOffset"/>) was full.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int SecondOffset(BucketLayout layout, int homeOffset)
    {
        int start = BucketLayout.RecordsOffset(layout.SlotsIn(PageLayout.SizeBytes));
        return start + ((homeOffset - start) ^ KeyLine.Bytes);
    }

    /// <summary>
    /// Where the line begins that a record was put into if it had room, in layouts with <see cref="BucketLayout.HasKeyLines"/>:
    /// most keys are found there by one access to memory. Who does not find his key there asks <see cref="BucketPage.Find"/>.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int HomeOffset(BucketLayout layout, ulong hash)
    {
        int slots = layout.SlotsIn(PageLayout.SizeBytes);
        return BucketLayout.RecordsOffset(slots) + (HomeLine(hash, slots / TagGroup.Size) * KeyLine.Bytes);
    }
}
