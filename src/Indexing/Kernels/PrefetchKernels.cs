using System.Runtime.InteropServices;
using System.Runtime.Intrinsics.X86;

namespace Treepie.Indexing.Kernels;

/// <summary>
/// Prefetches memory that will be read soon, so that it is loaded while other work is done. Without the instruction nothing
/// happens, which is the scalar twin.
/// </summary>
internal static class PrefetchKernels
{
    private const int LineBytes = 64;

    /// <summary>Prefetches the cache line in which an item begins.</summary>
    public static unsafe void Prefetch<T>(ref readonly T item)
        where T : unmanaged
    {
        if (!Sse.IsSupported)
            return;
        fixed (T* place = &item)
            Sse.Prefetch0(place);
    }

    /// <summary>Prefetches all cache lines of a span.</summary>
    public static unsafe void Prefetch(ReadOnlySpan<byte> bytes)
    {
        if (!Sse.IsSupported)
            return;
        fixed (byte* start = &MemoryMarshal.GetReference(bytes))
        {
            for (int place = 0; place < bytes.Length; place += LineBytes)
                Sse.Prefetch0(start + place);
        }
    }

    /// <summary>Prefetches those cache lines of a bitmap that contain the bits of offsets.</summary>
    public static unsafe void PrefetchBits(ReadOnlySpan<byte> bitmap, ReadOnlySpan<ushort> offsets)
    {
        if (!Sse.IsSupported)
            return;
        fixed (byte* start = &MemoryMarshal.GetReference(bitmap))
        {
            foreach (ushort offset in offsets)
                Sse.Prefetch0(start + (offset >> 3));
        }
    }
}
