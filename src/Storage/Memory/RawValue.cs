using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics.X86;

namespace Treepie.Storage.Memory;

/// <summary>Values of types without references, seen as the bytes they are in memory.</summary>
internal static class RawValue
{
    /// <summary>Bytes of a value, known when code is compiled for its type.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int SizeOf<T>()
        where T : unmanaged => Unsafe.SizeOf<T>();

    /// <summary>
    /// The bytes of a variable of a type that has no references, which the caller knows although the compiler does not.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ReadOnlySpan<byte> BytesOf<T>(ref readonly T value) =>
        MemoryMarshal.CreateReadOnlySpan(ref Unsafe.As<T, byte>(ref Unsafe.AsRef(in value)), Unsafe.SizeOf<T>());

    /// <summary>Starts to bring the cache line of native memory near, without waiting for it.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static unsafe void Prefetch(ref readonly byte place)
    {
        if (Sse.IsSupported)
            Sse.Prefetch0(Unsafe.AsPointer(ref Unsafe.AsRef(in place)));
    }
}
