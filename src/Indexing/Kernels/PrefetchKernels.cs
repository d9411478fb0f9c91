using System.Runtime.InteropServices;
using System.Runtime.Intrinsics.X86;

namespace Treepie.Indexing.Kernels;

/// <summary>
/// Asks for memory that is read soon, so that it comes while something else is done. Without the instruction nothing happens,
/// which is the scalar twin.
/// </summary>
internal static class PrefetchKernels
{
    private const int LineBytes = 64;

    /// <summary>Asks for the line in which it begins.</summary>
    public static unsafe void Prefetch<T>(ref readonly T item)
        where T : unmanaged
    {
        if (!Sse.IsSupported)
            return;
        fixed (T* place = &item)
            Sse.Prefetch0(place);
    }

    /// <summary>Asks for all of it.</summary>
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

    /// <summary>Asks for those lines of a bitmap in which the bits of offsets are.</summary>
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
