using System.Diagnostics;
using System.Runtime.CompilerServices;
using Treepie.Storage.Format;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Maps;

/// <summary>The preferred position of a record in its bucket, so that most are found with one memory access.</summary>
internal static class BucketLines
{
    /// <summary>
    /// Returns the preferred slot of a record, or, in layouts with <see cref="BucketLayout.HasKeyLines"/>, the first slot of
    /// its preferred line.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int FirstSlot(BucketLayout layout, ulong hash, int groups) =>
        layout.HasKeyLines
            ? HomeLine(hash, groups) * KeyLine.Records
            : (BucketPage.HomeOf(hash, groups) * TagGroup.Size) + layout.FirstChoice(hash);

    /// <summary>Like <see cref="BucketPage.HomeOf"/>, with two more bits that select the line in the group.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int HomeLine(ulong hash, int groups) => (int)(((uint)(hash >> 48) * (uint)groups) >> 14);

    /// <summary>
    /// Returns the offset of the line that a record was put into if the preferred one (<see cref="HomeOffset"/>) was full.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int SecondOffset(BucketLayout layout, int homeOffset)
    {
        int start = BucketLayout.RecordsOffset(layout.SlotsIn(PageLayout.SizeBytes));
        Debug.Assert(
            homeOffset >= start && (homeOffset - start) % KeyLine.Bytes == 0, "the preferred line is one of the records");
        return start + ((homeOffset - start) ^ KeyLine.Bytes);
    }

    /// <summary>
    /// Returns the offset of the line that a record was put into if it had space, in layouts with
    /// <see cref="BucketLayout.HasKeyLines"/>: most keys are found there with one memory access. For other keys use
    /// <see cref="BucketPage.Find"/>.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int HomeOffset(BucketLayout layout, ulong hash)
    {
        Debug.Assert(layout.HasKeyLines, "only records that fill lines have a preferred line");
        int slots = layout.SlotsIn(PageLayout.SizeBytes);
        return BucketLayout.RecordsOffset(slots) + (HomeLine(hash, slots / TagGroup.Size) * KeyLine.Bytes);
    }
}
