using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics.X86;

namespace Treepie.Storage.Memory;

/// <summary>Accesses values of types without references as their bytes in memory.</summary>
internal static class RawValue
{
    /// <summary>Returns the size of a value in bytes; a constant in compiled code.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int SizeOf<T>()
        where T : unmanaged => Unsafe.SizeOf<T>();

    /// <summary>
    /// Returns the bytes of a variable. The caller must know that its type contains no references; the compiler does not
    /// check it.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ReadOnlySpan<byte> BytesOf<T>(ref readonly T value) =>
        MemoryMarshal.CreateReadOnlySpan(ref Unsafe.As<T, byte>(ref Unsafe.AsRef(in value)), Unsafe.SizeOf<T>());

    /// <summary>Prefetches the cache line of a location in native memory.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static unsafe void Prefetch(ref readonly byte place)
    {
        if (Sse.IsSupported)
            Sse.Prefetch0(Unsafe.AsPointer(ref Unsafe.AsRef(in place)));
    }
}
