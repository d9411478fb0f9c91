using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics.X86;

namespace Treepie.Storage.Memory;

/// <summary>Prefetches memory into the processor's cache.</summary>
internal static unsafe class CacheLines
{
    private const int LineBytes = 64;

    /// <summary>
    /// Prefetches the second to the eleventh cache line of a page. With the first line, which is about to be read, they hold
    /// its header and the heads and slots of 100 keys. Fetched in parallel, they take the time of one. Has no effect on
    /// processors without the instruction.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Prefetch(Span<byte> page)
    {
        if (!Sse.IsSupported || page.Length < 11 * LineBytes)
            return;

        byte* start = (byte*)Unsafe.AsPointer(ref MemoryMarshal.GetReference(page));
        Sse.Prefetch0(start + LineBytes);
        Sse.Prefetch0(start + (2 * LineBytes));
        Sse.Prefetch0(start + (3 * LineBytes));
        Sse.Prefetch0(start + (4 * LineBytes));
        Sse.Prefetch0(start + (5 * LineBytes));
        Sse.Prefetch0(start + (6 * LineBytes));
        Sse.Prefetch0(start + (7 * LineBytes));
        Sse.Prefetch0(start + (8 * LineBytes));
        Sse.Prefetch0(start + (9 * LineBytes));
        Sse.Prefetch0(start + (10 * LineBytes));
    }

    /// <summary>Prefetches the first three lines of a page: its header, and the heads and slots of some entries.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void PrefetchHead(Span<byte> page)
    {
        if (!Sse.IsSupported || page.Length < 3 * LineBytes)
            return;

        byte* start = (byte*)Unsafe.AsPointer(ref MemoryMarshal.GetReference(page));
        Sse.Prefetch0(start);
        Sse.Prefetch0(start + LineBytes);
        Sse.Prefetch0(start + (2 * LineBytes));
    }

    /// <summary>Prefetches the first line of a page.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void PrefetchFirst(Span<byte> page)
    {
        if (Sse.IsSupported)
            Sse.Prefetch0((byte*)Unsafe.AsPointer(ref MemoryMarshal.GetReference(page)));
    }

    /// <summary>
    /// Prefetches a whole page that will soon be read sequentially, into the second-level cache, where it does not evict data
    /// in use.
    /// </summary>
    public static void PrefetchWhole(Span<byte> page)
    {
        if (!Sse.IsSupported)
            return;

        byte* start = (byte*)Unsafe.AsPointer(ref MemoryMarshal.GetReference(page));
        for (int at = 0; at < page.Length; at += LineBytes)
            Sse.Prefetch1(start + at);
    }
}
